//! Joins and races. The code runs the branches; the journal records which there are and how each
//! ended.

use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, RaceWon,
};
use everstep_model::{Body, Failure, Location, Name, Scope, Segment};

use super::context::{Called, Context};
use super::earlier_passes::Remembered;
use super::mailbox::Mailbox;
use super::operations::{Kind, OpId, Resolution};

/// A call of a join or race.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct BranchesCall {
    pub kind: BranchesKind,
    pub branches: Vec<Name>,
}

/// The scope of a branch.
#[must_use]
pub fn branch_scope(owner: &Location, branch: &Name) -> Scope {
    owner.inner_scope().child(Segment::Named(branch.clone(), 0))
}

pub(super) fn call(called: Called, call: BranchesCall, cx: &mut Context) -> Option<Location> {
    let started = BranchesStarted {
        location: called.location.clone(),
        kind: call.kind,
        branches: call.branches,
    };
    cx.say(started, Some(called.site))?;
    Some(called.location)
}

/// Records the end of a branch.
pub(super) fn end(owner: &Location, branch: &Name, failure: Option<&Failure>, cx: &mut Context) {
    let (location, branch) = (owner.clone(), branch.clone());
    let body: Body = match failure {
        None => BranchCompleted { location, branch }.into(),
        Some(error) => BranchFailed {
            location,
            branch,
            error: error.clone(),
        }
        .into(),
    };
    cx.say(body, None);
}

/// The winner of a race in an earlier pass, which stays the winner.
pub(super) fn earlier_winner(race: &Location, cx: &mut Context) -> Option<Name> {
    match cx.earlier.take(race) {
        Some(Remembered::Won(winner)) => Some(winner),
        _ => None,
    }
}

/// Records the winner of a race. The operation resolves when the record is durable.
pub(super) fn win(
    race: Called,
    winner: &Name,
    mailbox: &mut Mailbox,
    cx: &mut Context,
) -> Option<OpId> {
    let won = RaceWon {
        location: race.location.clone(),
        winner: winner.clone(),
    };
    cx.say(won, Some(race.site))?;
    cx.outgoing.require_durable();
    stop_losers(&race.location, mailbox, cx);
    Some(cx.operations.open(race.location, Kind::Race))
}

/// Ends the waits of losing branches: they take no events until they are dropped.
fn stop_losers(race: &Location, mailbox: &mut Mailbox, cx: &Context) {
    let inside = race.inner_scope();
    let waits = cx.operations.select(|operation| {
        matches!(operation.kind, Kind::Wait { .. }) && operation.location.scope.is_within(&inside)
    });
    for op in waits {
        mailbox.forget(op);
    }
}

pub(super) fn fold_race_won(race: &Location, cx: &mut Context) {
    if let Some((op, operation)) = cx.operations.at(race)
        && matches!(operation.kind, Kind::Race)
    {
        cx.operations.resolve(op, Resolution::Won);
    }
}
