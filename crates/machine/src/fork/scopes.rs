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
    let iteration = |segment: &Segment| matches!(segment, Segment::Iteration(_));
    let (before, _) = path.split_at_checked(path.iter().position(iteration)?)?;
    match before.split_last()? {
        (Segment::Named(name, counter), outside) => Some(Location {
            scope: Scope::from_segments(outside.iter().cloned()),
            name: name.clone(),
            counter: *counter,
        }),
        (Segment::Iteration(_), _) => None,
    }
}

/// Returns the scope that a record is about: the branch, if it is about one.
pub(super) fn scope_of(body: &Body) -> Option<Scope> {
    match body {
        Body::BranchCompleted(record) => Some(branch_scope(&record.location, &record.branch)),
        Body::BranchFailed(record) => Some(branch_scope(&record.location, &record.branch)),
        body => body.location().map(|location| location.scope.clone()),
    }
}
