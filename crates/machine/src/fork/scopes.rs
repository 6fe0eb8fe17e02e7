//! Which scopes and operations of a journal contain which.

use everstep_model::{Body, Location, Scope, Segment};

use crate::replay::branch_scope;

/// Returns whether a location is that of an operation, or inside its scope.
pub(super) fn is_within(location: &Location, owner: &Location) -> bool {
    location == owner || location.scope.is_within(&owner.inner_scope())
}

/// Returns the outermost loop around a location.
pub(super) fn outermost_loop(location: &Location) -> Option<Location> {
    let path = location.scope.segments();
    let is_iteration = |segment: &Segment| matches!(segment, Segment::Iteration(_));
    let first = path.iter().position(is_iteration)?;
    let outermost = Scope::from_segments(path.iter().take(first + 1).cloned());
    outermost.as_iteration().map(|(location, _)| location)
}

/// Returns the scope that a record is about: the branch, if it is about one.
pub(super) fn scope_of(body: &Body) -> Option<Scope> {
    match body {
        Body::BranchCompleted(record) => Some(branch_scope(&record.location, &record.branch)),
        Body::BranchFailed(record) => Some(branch_scope(&record.location, &record.branch)),
        body => body.location().map(|location| location.scope.clone()),
    }
}
