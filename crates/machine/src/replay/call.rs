//! How workflow code calls an operation: the call fixes the operation's location. Each kind of
//! operation implements [`Call`] in its own file.

use everstep_model::{Location, Name, Scope};

use super::context::Called;
use super::divergence::CallSite;
use super::execution::Replay;
use super::loops::Advance;

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

impl Call for ScopeCall {
    type Output = Location;
    const RECORD: &'static str = "scope";

    fn call(self, called: Called, _: &Name, _: &mut Replay) -> Option<Location> {
        Some(called.location)
    }
}

/// A loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopCall;

impl Call for LoopCall {
    type Output = (Location, Advance);
    const RECORD: &'static str = "loop_advanced";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<Self::Output> {
        let (poll, context) = (replay.code.poll, &mut replay.context);
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
}

/// Fixes the location of the next operation of that name.
#[inline]
pub(super) fn locate(
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

/// Returns `None` if the code must not call an operation now.
#[inline]
pub(super) fn check(
    replay: &mut Replay,
    location: Location,
    record: &'static str,
    site: CallSite,
) -> Option<Called> {
    let context = &mut replay.context;
    let may_call = replay.code.may_call(context, record, &location, site);
    may_call.then_some(Called { location, site })
}

/// Returns the location of an operation that a scope has only once.
pub(super) fn first_of(scope: &Scope, name: Name) -> Location {
    Location {
        scope: scope.clone(),
        name,
        counter: 0,
    }
}
