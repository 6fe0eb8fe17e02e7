//! What an execution is waiting for, and what it would leave behind if it ended now.

use everstep_model::record::CancelRequested;
use everstep_model::{Body, Entry, Failure, Location, RunStatus};

use super::attempts::Attempts;
use super::children;
use super::context::Context;
use super::control;
use super::early_results::EarlyResults;
use super::loops::Loops;
use super::mailbox::Mailbox;
use super::operations::{Kind, Obsolete, OpId, StepOp, StepPhase};
use super::outgoing::LeftChild;
use super::rollback::{Rollback, UndoState};
use super::state::{Pause, Phase};

/// A view of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a> {
    pub(super) context: &'a Context,
    pub(super) early: &'a EarlyResults,
    pub(super) mailbox: &'a Mailbox,
    pub(super) loops: &'a Loops,
    pub(super) rollback: &'a Rollback,
}

impl<'a> Status<'a> {
    /// The status of a run that is suspended now. The most informative wait decides.
    #[must_use]
    pub fn suspended(self) -> RunStatus {
        let state = &self.context.state;
        if state.pause != Pause::No {
            return RunStatus::Paused;
        }
        if self.rollback.state() == UndoState::Waiting {
            return RunStatus::RollingBack;
        }
        let mut status = RunStatus::Sleeping;
        for (_, operation) in self.context.operations.iter() {
            match &operation.kind {
                Kind::Wait { .. } | Kind::Rpc { .. } | Kind::Child(_) => return RunStatus::Waiting,
                Kind::Step(_) => status = RunStatus::Retrying,
                Kind::Sleep { .. }
                | Kind::Race
                | Kind::Loop
                | Kind::Removed
                | Kind::Rollback
                | Kind::Refused => {}
            }
        }
        if state.phase == Phase::Backoff {
            RunStatus::Retrying
        } else {
            status
        }
    }

    /// Whether nothing can wake the code: it awaits something that is not an operation.
    #[must_use]
    pub fn is_stuck(self) -> bool {
        self.context.state.is_running()
            && self.context.operations.is_empty()
            && self.is_settled()
            && self.context.position.unfolded.is_empty()
    }

    /// Whether nothing waits for a poll of its own.
    pub(super) fn is_settled(self) -> bool {
        self.context.operations.pending.is_empty()
            && !self.mailbox.has_matches()
            && !self.early.has_due(self.context)
    }

    /// Whether everything known is folded and resolved, so that new work may begin.
    pub(super) fn is_at_frontier(self) -> bool {
        self.context.is_folded() && self.is_settled()
    }

    /// Whether an attempt of a step may begin: everything known is folded, and the run is neither
    /// paused nor cancelled.
    pub(super) fn may_begin(self) -> bool {
        let state = &self.context.state;
        self.is_at_frontier()
            && state.is_running()
            && state.pause == Pause::No
            && !state.is_cancelled()
    }

    /// Whether an undo may begin: everything known is folded, the run is not paused, and if it ends,
    /// the journal fixes its final status.
    pub(super) fn may_undo(self, attempts: Attempts) -> bool {
        let state = &self.context.state;
        let is_settled = matches!(state.phase, Phase::Broken(_)) || self.is_settled();
        attempts.may_begin()
            && self.context.is_folded()
            && is_settled
            && state.pause == Pause::No
            && (state.is_running() || self.rollback.is_ending_decided() || self.is_next_undo_own())
    }

    /// Steps whose next attempt may begin.
    pub fn startable(self) -> impl Iterator<Item = OpId> + Clone + 'a {
        let steps = self.may_begin().then(|| self.context.operations.steps());
        let is_runnable = |step: &StepOp| step.phase == StepPhase::Runnable;
        let steps = steps.into_iter().flatten();
        steps.filter_map(move |(op, _, step)| is_runnable(step).then_some(op))
    }

    /// Steps with an attempt in flight, or one whose end is not durable yet.
    pub fn steps_in_flight(self) -> impl Iterator<Item = &'a Location> {
        let in_flight = self.context.operations.steps().filter(|(_, _, step)| {
            matches!(
                step.phase,
                StepPhase::Announcing | StepPhase::Running | StepPhase::Recording
            )
        });
        in_flight.map(|(_, location, _)| location)
    }

    /// Whether this process executes no attempt. A result that is not folded yet has ended its
    /// attempt, and an announced attempt has not begun.
    #[must_use]
    pub fn is_quiet(self) -> bool {
        let mut steps = self.context.operations.steps();
        !steps.any(|(_, _, step)| step.phase == StepPhase::Running)
    }

    /// Whether a pause was requested and the journal does not contain it yet.
    #[must_use]
    pub fn is_pausing(self) -> bool {
        self.context.state.pause == Pause::Requested
            && !control::pause_ends_ahead(self.rollback, self.context)
            && !control::is_pause_recorded(self.context)
    }

    /// The request to cancel the run.
    #[must_use]
    pub fn cancellation(self) -> Option<&'a CancelRequested> {
        self.context.state.cancellation.as_ref()
    }

    /// Whether the run was cancelled and its code continues to call operations.
    #[must_use]
    pub fn ignores_cancellation(self) -> bool {
        self.context.state.ignores_cancellation()
    }

    /// The divergence that the run is parked with, if the journal ends with one.
    #[must_use]
    pub fn parked(self) -> Option<&'a Failure> {
        self.context.state.parked.as_ref()
    }

    /// The location of an open operation.
    #[must_use]
    pub fn location_of(self, op: OpId) -> Option<&'a Location> {
        let operation = self.context.operations.get(op);
        operation.map(|operation| &operation.location)
    }

    /// The rollbacks of the execution.
    #[must_use]
    pub fn rollback(self) -> &'a Rollback {
        self.rollback
    }

    /// Whether anything was undone.
    #[must_use]
    pub fn has_undone(self) -> bool {
        self.rollback.undos().has_undone() || self.loops.iterations.has_dropped_undone()
    }

    /// Whether an undo ever began: another pass of the function must not rely on earlier results.
    #[must_use]
    pub fn has_begun_undoing(self) -> bool {
        self.rollback.undos().has_begun() || self.loops.iterations.has_dropped_undos()
    }

    /// Whether the next undo was requested by code that has returned meanwhile.
    #[must_use]
    pub fn is_next_undo_own(self) -> bool {
        self.rollback.is_next_own(&self.context.state.phase)
    }

    /// Whether the failure of an execution that cannot continue must be recorded before the undos
    /// that it needs.
    #[must_use]
    pub fn must_break_off_first(self) -> bool {
        let is_forced = |entry: &Entry| matches!(&entry.record.body, Body::ForcedFailure(forced) if forced.location.is_none());
        let mut ahead = self.context.position.unfolded.iter();
        self.rollback.undos().has_done() && !ahead.any(is_forced)
    }

    /// Whether a location is in an iteration that is no longer in the journal.
    #[must_use]
    pub fn has_dropped(self, place: &Location) -> bool {
        self.loops.iterations.has_dropped(place)
    }

    /// The rows that the run leaves in the store if it ends now.
    #[must_use]
    pub fn remaining_rows(self) -> Vec<Obsolete> {
        let open = self.context.operations.iter();
        let open = open.flat_map(|(_, operation)| operation.rows());
        let own = self.context.run.rows();
        open.chain(own).chain(self.rollback.timers()).collect()
    }

    /// The children that the run leaves if it ends now.
    #[must_use]
    pub fn remaining_children(self) -> Vec<LeftChild> {
        children::remaining(self.context).collect()
    }
}
