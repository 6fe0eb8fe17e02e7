//! When workflow code may call operations: only in a poll that resolved something from the journal.

use everstep_model::Location;

use super::divergence::{CallSite, Halt};
use super::state::{Phase, State};

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
        state: &mut State,
        record: &'static str,
        location: &Location,
        site: CallSite,
    ) -> bool {
        if state.halt.is_some() || !state.is_running() {
            return false;
        }
        if self.access != Access::Allowed {
            halt_on_call(state, record, location, site);
        }
        self.access == Access::Allowed
    }

    /// Halts if the code dropped an operation or returned in a poll that resolved nothing.
    pub(super) fn check_poll(&self, state: &mut State, what: impl FnOnce() -> String) {
        if self.access == Access::Forbidden && state.phase != Phase::New {
            state.halt(Halt::NotDurable(format!(
                "{} after something that is not in the journal woke it; put timers, channels and I/O inside a step, and \
                 use the timeouts that ctx offers",
                what()
            )));
        }
    }
}

#[cold]
fn halt_on_call(state: &mut State, record: &'static str, location: &Location, site: CallSite) {
    state.halt(Halt::NotDurable(format!(
        "the code called `{location}` ({record}, at {site}) after something that is not in the journal woke it; \
         put timers, channels and I/O inside a step, and do not call ctx from inside a step"
    )));
}
