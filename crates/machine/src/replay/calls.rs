//! The operations that workflow code calls. Each call fixes the location of the operation and adds it
//! to the script; which parts of the execution it uses is visible here.

use everstep_model::{
    Failure, InvalidName, Location, Name, Payload, RunId, Scope, Seed, StepOptions,
};

use super::branches::{self, BranchesCall};
use super::children::{self, ChildCall, DetachedChild};
use super::code::Access;
use super::context::Called;
use super::divergence::{CallSite, Halt};
use super::execution::Replay;
use super::loops::{Advance, IterationEnd};
use super::operations::OpId;
use super::removals::{PassRemoved, RemovedKind};
use super::rpcs::{self, RpcCall};
use super::sleeps::{self, SleepCall};
use super::switches::{self, SwitchCall};
use super::waits::{self, WaitCall};
use super::written::{self, Written};
use super::{random, steps, versions};

/// An operation that the code calls with [`Replay::call`].
pub trait Call {
    /// What the code gets at once.
    type Output;
    /// The type name of the record with which the operation begins.
    const RECORD: &'static str;

    /// Calls the operation.
    fn call(self, called: Called, name: &Name, replay: &mut Replay) -> Option<Self::Output>;
}

/// A scope without an operation of its own.
#[derive(Clone, Copy, Debug)]
pub struct ScopeCall;

/// A loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopCall;

impl Call for StepOptions {
    type Output = OpId;
    const RECORD: &'static str = "step_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        replay.scopes.count_step(&called.location.scope);
        steps::call(called, self, &mut replay.rollback, &mut replay.context)
    }
}

impl Call for SleepCall {
    type Output = OpId;
    const RECORD: &'static str = "sleeping";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        sleeps::call(called, self, &mut replay.context)
    }
}

impl Call for WaitCall {
    type Output = OpId;
    const RECORD: &'static str = "waiting";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        waits::call(called, self, &mut replay.mailbox, &mut replay.context)
    }
}

impl Call for RpcCall {
    type Output = OpId;
    const RECORD: &'static str = "rpc_requested";

    fn call(self, called: Called, method: &Name, replay: &mut Replay) -> Option<OpId> {
        rpcs::call(called, method, self, &mut replay.context)
    }
}

impl Call for ChildCall {
    type Output = OpId;
    const RECORD: &'static str = "child_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        children::call(called, self, &mut replay.rollback, &mut replay.context)
    }
}

impl Call for DetachedChild {
    /// The id of the child, or why it is not started.
    type Output = Result<RunId, Failure>;
    const RECORD: &'static str = "child_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<Self::Output> {
        children::detach(called, self.0, &mut replay.context)
    }
}

impl Call for BranchesCall {
    type Output = Location;
    const RECORD: &'static str = "branches_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<Location> {
        branches::call(called, self, &mut replay.context)
    }
}

impl Call for SwitchCall<'_> {
    /// The location and the branch, or the failure of a switch without a matching case.
    type Output = Result<(Location, Name), Failure>;
    const RECORD: &'static str = "switch_chosen";

    fn call(self, called: Called, name: &Name, replay: &mut Replay) -> Option<Self::Output> {
        switches::call(called, name, self, &mut replay.context)
    }
}

impl Call for ScopeCall {
    type Output = Location;
    const RECORD: &'static str = "scope";

    fn call(self, called: Called, _: &Name, _: &mut Replay) -> Option<Location> {
        Some(called.location)
    }
}

impl Call for LoopCall {
    type Output = (Location, Advance);
    const RECORD: &'static str = "loop_advanced";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<Self::Output> {
        let poll = replay.code.poll;
        let context = &mut replay.context;
        replay.loops.call(called.location, poll, context)
    }
}

impl Replay {
    /// Calls an operation. Returns `None` if the code must not continue.
    pub fn call<C: Call>(
        &mut self,
        scope: &Scope,
        name: &Name,
        call: C,
        site: CallSite,
    ) -> Option<C::Output> {
        let called = locate(self, scope, name.clone(), C::RECORD, site)?;
        call.call(called, name, self)
    }

    /// Writes a record once. Returns `false` for a reply to an event that was answered before.
    pub fn write(&mut self, scope: &Scope, written: Written, site: CallSite) -> bool {
        if let Written::Reply { event, .. } = written
            && !self.replies.add(event)
        {
            return false;
        }
        if let Written::NoReturn = written {
            self.rollback.pass_no_return();
        }
        let Ok(name) = self.names.internal(written.name()) else {
            return true;
        };
        if let Some(called) = locate(self, scope, name, written.type_name(), site) {
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
        let others = (&self.loops, &mut self.mailbox);
        let context = &mut self.context;
        self.removals.call(called?, kind, others, context)
    }

    /// Chooses which version of a change this run follows, once per scope.
    pub fn version(&mut self, scope: &Scope, change: &Name, latest: u32, site: CallSite) -> u32 {
        if let Some(version) = self.scopes.version(scope, change) {
            return version;
        }
        let Ok(name) = self.names.internal(&format!("__version:{change}")) else {
            return latest;
        };
        let location = first_of(scope, name);
        let Some(called) = check(self, location, "version_chosen", site) else {
            return latest;
        };
        let is_known = self.loops.knew_earlier(scope, &self.context);
        let version = versions::choose(called, latest, is_known, &mut self.context);
        self.scopes.set_version(scope, change.clone(), version);
        version
    }

    /// The next random number of a scope, which is the same in every execution.
    pub fn random(&mut self, scope: &Scope, site: CallSite) -> u64 {
        let state = &mut self.context.state;
        if self.code.access != Access::Allowed && state.halt.is_none() {
            state.halt(Halt::NotDurable(format!(
                "the code drew a random number (at {site}) inside a step, or after something that is not in the journal woke \
                 it; draw it before the step and pass it in"
            )));
        }
        let info = self.context.run.info();
        let seed = info.map_or(Seed(0), |info| info.seed);
        random::number(seed, scope, self.scopes.count_draw(scope))
    }

    /// Records the end of a branch.
    pub fn end_branch(&mut self, owner: &Location, branch: &Name, failure: Option<&Failure>) {
        let state = &mut self.context.state;
        let site = CallSite::caller();
        if self.code.may_call(state, "branch_completed", owner, site) {
            branches::end(owner, branch, failure, &mut self.context);
        }
    }

    /// The winner of this race in an earlier pass of the function, which stays the winner.
    pub fn earlier_winner(&mut self, race: &Location) -> Option<Name> {
        branches::earlier_winner(race, &mut self.context)
    }

    /// Records the winner of a race. The operation resolves when the record is durable.
    pub fn win_race(&mut self, race: &Location, winner: &Name, site: CallSite) -> Option<OpId> {
        let called = check(self, race.clone(), "race_won", site)?;
        branches::win(called, winner, &mut self.mailbox, &mut self.context)
    }

    /// Advances a loop after an iteration, with the state of the next one or the result of the loop.
    pub fn advance_loop(
        &mut self,
        end: IterationEnd<'_>,
        value: Payload,
        site: CallSite,
    ) -> Option<Advance> {
        let state = &mut self.context.state;
        if !self.code.may_call(state, "loop_advanced", end.place, site) {
            return None;
        }
        let others = (&mut self.scopes, self.rollback.undos_mut());
        let (poll, context) = (self.code.poll, &mut self.context);
        let (loops, value) = (&mut self.loops, (value, site));
        let advance = loops.advance(end, value, poll, others, context);
        if loops.has_dropped() {
            // A replay would not know dropped iterations either.
            context.script.forget_sites(|number| loops.is_gone(number));
            self.replies.forget(|event| loops.is_gone(event));
        }
        advance
    }

    /// The interned copy of a user's name.
    pub fn name(&mut self, text: &str) -> Result<Name, InvalidName> {
        self.names.user(text)
    }

    /// The number of steps called, without those in iterations that have ended.
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

/// Fixes the location of the next operation of that name.
#[inline]
fn locate(
    replay: &mut Replay,
    scope: &Scope,
    name: Name,
    record: &'static str,
    site: CallSite,
) -> Option<Called> {
    let location = Location {
        counter: replay.scopes.count_call(scope, &name),
        scope: scope.clone(),
        name,
    };
    check(replay, location, record, site)
}

#[inline]
fn check(
    replay: &mut Replay,
    location: Location,
    record: &'static str,
    site: CallSite,
) -> Option<Called> {
    let state = &mut replay.context.state;
    let may_call = replay.code.may_call(state, record, &location, site);
    may_call.then_some(Called { location, site })
}

/// The location of an operation that a scope has only once.
fn first_of(scope: &Scope, name: Name) -> Location {
    Location {
        scope: scope.clone(),
        name,
        counter: 0,
    }
}
