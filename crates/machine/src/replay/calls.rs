//! Operations that need more than their call: records that are written once, rollbacks, removed
//! operations and loops. Which parts of the execution each of them uses is visible here.

use everstep_model::{Failure, InvalidName, Name, Payload, Scope};

use super::call::{check, first_of, locate};
use super::code::Access;
use super::divergence::CallSite;
use super::execution::Replay;
use super::loops::{Advance, IterationEnd};
use super::operations::OpId;
use super::removals::{PassRemoved, RemovedKind};
use super::written::{self, Written};

impl Replay {
    /// Writes a record once. Returns `false` for a reply to an event that was answered before.
    pub fn write(&mut self, scope: &Scope, written: Written, site: CallSite) -> bool {
        if let Written::Reply { event, .. } = written
            && !self.replies.insert(event)
        {
            return false;
        }
        let (name, record) = written.names();
        if let Ok(name) = self.names.internal(name)
            && let Some(called) = locate(self, scope, name, record, site)
        {
            self.rollback.log.no_return |= matches!(written, Written::NoReturn);
            written::write(called, written, &mut self.context);
        }
        true
    }

    /// Rolls back what is done. The operation resolves when the rollback has ended.
    pub fn call_rollback(
        &mut self,
        scope: &Scope,
        reason: Failure,
        site: CallSite,
    ) -> Option<OpId> {
        let name = self.names.internal("__rollback").ok()?;
        let called = locate(self, scope, name, "rollback", site)?;
        let context = &mut self.context;
        self.rollback.call(called.location, reason, context)
    }

    /// Passes an operation that was removed from the code.
    pub fn call_removed(
        &mut self,
        scope: &Scope,
        name: &Name,
        kind: RemovedKind,
        site: CallSite,
    ) -> Option<PassRemoved> {
        let name = match kind.internal_name(name) {
            Some(text) => self.names.internal(&text).ok()?,
            None => name.clone(),
        };
        let called = match kind {
            RemovedKind::Version => check(self, first_of(scope, name), "removed", site),
            _ => locate(self, scope, name, "removed", site),
        };
        let others = (&self.loops, &mut self.event_queue);
        let context = &mut self.context;
        self.removals.call(called?, kind, others, context)
    }

    /// Advances a loop after an iteration, with the state of the next one or the result of the
    /// loop.
    pub fn advance_loop(
        &mut self,
        end: IterationEnd<'_>,
        value: Payload,
        site: CallSite,
    ) -> Option<Advance> {
        let context = &mut self.context;
        if !self
            .code
            .may_call(context, "loop_advanced", end.location, site)
        {
            return None;
        }
        let others = (&mut self.scopes, &mut self.rollback.log.fold);
        let poll = self.code.poll;
        let (loops, value) = (&mut self.loops, (value, site));
        let advance = loops.advance(end, value, poll, others, context);
        if loops.has_dropped {
            // A replay would not know dropped iterations either.
            context.script.forget_sites(|number| loops.is_gone(number));
            self.replies.retain(|event| !loops.is_gone(*event));
        }
        advance
    }

    /// Returns the interned copy of a user's name.
    pub fn name(&mut self, text: &str) -> Result<Name, InvalidName> {
        self.names.user(text)
    }

    /// Returns the number of steps called, without those in iterations that have ended.
    #[must_use]
    pub fn steps_called(&self) -> u64 {
        self.scopes.steps()
    }

    /// Sets what the code may do, and returns what it could do before. While the work of a step is
    /// polled, the code may not call operations.
    pub fn set_access(&mut self, access: Access) -> Access {
        let before = self.code.access;
        self.code.set_access(access);
        before
    }
}
