//! Joins and races. The code runs the branches; the journal records which there are and how each
//! ended.

use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, RaceWon,
};
use everstep_model::{Body, Failure, Location, Name, Scope, Segment};

use super::call::{Call, check};
use super::context::{Called, Context};
use super::divergence::CallSite;
use super::earlier_passes::Remembered;
use super::event_queue::EventQueue;
use super::execution::Replay;
use super::operations::{Kind, OpId, Resolution};

/// A call of a join or race.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct BranchesCall {
    pub kind: BranchesKind,
    pub branches: Vec<Name>,
}

/// Returns the scope of a branch.
#[must_use]
pub fn branch_scope(owner: &Location, branch: &Name) -> Scope {
    owner.inner_scope().child(Segment::Named(branch.clone(), 0))
}

impl Call for BranchesCall {
    type Output = Location;
    const RECORD: &'static str = "branches_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<Location> {
        let started = BranchesStarted {
            location: called.location.clone(),
            kind: self.kind,
            branches: self.branches,
        };
        replay.context.add_line(started, Some(called.site))?;
        Some(called.location)
    }
}

impl Replay {
    /// Records the end of a branch.
    pub fn end_branch(&mut self, owner: &Location, branch: &Name, failure: Option<&Failure>) {
        let called = check(self, owner.clone(), "branch_completed", CallSite::caller());
        let Some(Called { location, .. }) = called else {
            return;
        };
        let branch = branch.clone();
        let body: Body = match failure {
            None => BranchCompleted { location, branch }.into(),
            Some(error) => BranchFailed {
                location,
                branch,
                error: error.clone(),
            }
            .into(),
        };
        self.context.add_line(body, None);
    }

    /// Returns the winner of this race in an earlier pass of the function, which stays the winner.
    pub fn earlier_winner(&mut self, race: &Location) -> Option<Name> {
        match self.context.earlier.take(race) {
            Some(Remembered::Won(winner)) => Some(winner),
            _ => None,
        }
    }

    /// Records the winner of a race. The operation resolves when the record is durable.
    pub fn win_race(&mut self, race: &Location, winner: &Name, site: CallSite) -> Option<OpId> {
        let Called { location, site } = check(self, race.clone(), "race_won", site)?;
        let cx = &mut self.context;
        let won = RaceWon {
            location: location.clone(),
            winner: winner.clone(),
        };
        cx.add_line(won, Some(site))?;
        cx.outgoing.require_durable();
        stop_losers(&location, &mut self.event_queue, cx);
        Some(cx.operations.open(location, Kind::Race))
    }
}

/// Ends the waits of losing branches: they take no events until they are dropped.
fn stop_losers(race: &Location, event_queue: &mut EventQueue, cx: &Context) {
    let inside = race.inner_scope();
    let waits = cx.operations.select(|operation| {
        matches!(operation.kind, Kind::Wait { .. }) && operation.location.scope.is_within(&inside)
    });
    for op in waits {
        event_queue.forget(op);
    }
}

pub(super) fn fold_race_won(race: &Location, cx: &mut Context) {
    if let Some((op, operation)) = cx.operations.at(race)
        && matches!(operation.kind, Kind::Race)
    {
        cx.operations.resolve(op, Resolution::Won);
    }
}
