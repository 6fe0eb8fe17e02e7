//! When workflow code may call operations: only in a poll that resolved something from the journal.

use everstep_model::Location;

use super::context::Context;
use super::divergence::{CallSite, Halt};
use super::held;
use super::operations::OpId;
use super::state::Phase;

/// What the code may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// The code is not polled, or is polled without a resolution.
    #[default]
    Forbidden,
    /// The code is polled with a resolution.
    Allowed,
    /// The executor drops the code. Operations that it drops are not abandoned.
    Detached,
}

#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) access: Access,
    /// The number of the current poll, or of the last one.
    pub(super) poll: u64,
}

impl Code {
    pub(super) fn begin_poll(&mut self) {
        self.poll += 1;
        self.set_access(Access::Allowed);
    }

    pub(super) fn set_access(&mut self, access: Access) {
        if self.access != Access::Detached {
            self.access = access;
        }
    }

    /// Returns whether the code may call an operation. A call that does not follow from the journal
    /// would not be repeated by a replay, so it halts the run.
    #[inline]
    pub(super) fn may_call(
        &self,
        cx: &mut Context,
        record: &'static str,
        location: &Location,
        site: CallSite,
    ) -> bool {
        if cx.state.is_halted() || !cx.state.is_running() {
            return false;
        }
        if self.access != Access::Allowed {
            halt_on_call(cx, record, location, site);
        }
        self.access == Access::Allowed
    }

    /// Returns whether the code may drop an operation. If not, it halts the run, and the operation
    /// stays open, because a replay would not drop it.
    pub(super) fn may_drop(&self, op: OpId, cx: &mut Context) -> bool {
        if !self.is_out_of_turn(cx) {
            return true;
        }
        if let Some(operation) = cx.operations.get(op) {
            let why = out_of_turn(&format!("the code dropped `{}`", operation.location));
            match operation.has_unknown_outcome() {
                // The attempt is lost with the operation, so its end cannot be awaited.
                true => cx.state.halt(Halt::NotDurable(why)),
                false => held::halt_not_durable(why, cx),
            }
        }
        false
    }

    /// Halts if the code returned in a poll that resolved nothing.
    pub(super) fn check_return(&self, cx: &mut Context) {
        if self.is_out_of_turn(cx) {
            held::halt_not_durable(out_of_turn("the code returned"), cx);
        }
    }

    fn is_out_of_turn(&self, cx: &Context) -> bool {
        self.access == Access::Forbidden && cx.state.phase != Phase::New
    }
}

fn out_of_turn(what: &str) -> String {
    format!(
        "{what} after something that is not in the journal woke it; put timers, channels and I/O inside a step, and \
         use the timeouts that ctx offers"
    )
}

#[cold]
fn halt_on_call(cx: &mut Context, record: &'static str, location: &Location, site: CallSite) {
    let why = format!(
        "the code called `{location}` ({record}, at {site}) after something that is not in the journal woke it; \
         put timers, channels and I/O inside a step, and do not call ctx from inside a step"
    );
    held::halt_not_durable(why, cx);
}
