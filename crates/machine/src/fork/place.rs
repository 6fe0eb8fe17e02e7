//! Places in a journal: what is inside what, and what compaction has taken away.

use everstep_model::record::{IterationRange, LoopAdvanced};
use everstep_model::{Body, Entry, Location, Name, Scope, Segment};

use super::Kept;

/// Whether a place is an operation's own, or inside its scope.
pub(super) fn is_within(location: &Location, owner: &Location) -> bool {
    location == owner || is_in_scope(&location.scope, &scope_of(owner))
}

/// Whether a scope is another one or inside it.
pub(super) fn is_in_scope(scope: &Scope, outer: &Scope) -> bool {
    scope.segments().starts_with(outer.segments())
}

/// The scope that an operation opens.
pub(super) fn scope_of(owner: &Location) -> Scope {
    let own = Segment::Named(owner.name.clone(), owner.counter);
    owner.scope.child(own)
}

/// The scope of one branch of a join or race.
pub(super) fn branch_scope(owner: &Location, branch: &Name) -> Scope {
    scope_of(owner).child(Segment::Named(branch.clone(), 0))
}

/// The outermost loop around a place, if there is one.
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

/// The scope a record speaks of: of its branch, where it is about one.
pub(super) fn scope_spoken_of(body: &Body) -> Option<Scope> {
    match body {
        Body::BranchCompleted(record) => Some(branch_scope(&record.location, &record.branch)),
        Body::BranchFailed(record) => Some(branch_scope(&record.location, &record.branch)),
        body => body.location().map(|location| location.scope.clone()),
    }
}

/// Compaction may have dropped iterations after the copy ends, so that no copied record says that they are gone. The
/// last copied one of each loop says it then.
pub(super) fn say_what_is_gone(journal: &[Entry], kept: &mut [Kept]) {
    let advances = journal
        .iter()
        .filter_map(|entry| advance(&entry.record.body));
    let mut latest: Vec<&LoopAdvanced> = Vec::new();
    for advanced in advances.filter(|advanced| !advanced.gone.is_empty()) {
        latest.retain(|known| known.location != advanced.location);
        latest.push(advanced);
    }
    for known in latest {
        let last = kept.iter_mut().rev().find_map(|kept| {
            let body = &mut kept.record.body;
            match body {
                Body::LoopAdvanced(advanced) if advanced.location == known.location => {
                    Some(advanced)
                }
                _ => None,
            }
        });
        if let Some(last) = last {
            last.gone = before(&known.gone, last.iteration, last.done);
        }
    }
}

fn advance(body: &Body) -> Option<&LoopAdvanced> {
    match body {
        Body::LoopAdvanced(advanced) => Some(advanced),
        _ => None,
    }
}

/// The part of the ranges before an iteration; all of them if the loop is over.
fn before(gone: &[IterationRange], iteration: u64, done: bool) -> Vec<IterationRange> {
    let end = if done { u64::MAX } else { iteration };
    let clipped = gone.iter().filter(|range| range.first < end);
    clipped
        .map(|range| IterationRange {
            first: range.first,
            last: range.last.min(end.saturating_sub(1)),
        })
        .collect()
}
