//! What an execution is waiting for, and what it would leave behind if it ended now.

use everstep_model::record::CancelRequested;
use everstep_model::{Body, Entry, Failure, Location, RunStatus};

use super::attempts::Attempts;
use super::children;
use super::control;
use super::execution::Replay;
use super::held;
use super::operations::{Kind, NextStart, Obsolete, OpId, StepOp, StepPhase};
use super::outgoing::LeftChild;
use super::rollback::{Rollback, UndoState};
use super::state::{Pause, Phase};

/// A read-only view of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a>(&'a Replay);

impl Replay {
    /// Returns what the execution is waiting for, and what it would leave behind.
    #[must_use]
    pub fn status(&self) -> Status<'_> {
        Status(self)
    }
}

impl<'a> Status<'a> {
    /// Returns the status of a run that is suspended now. The most informative wait decides.
    #[must_use]
    pub fn suspended(self) -> RunStatus {
        let state = &self.0.context.state;
        if state.pause != Pause::No {
            return RunStatus::Paused;
        }
        if self.0.rollback.state() == UndoState::Waiting {
            return RunStatus::RollingBack;
        }
        let mut status = RunStatus::Sleeping;
        for (_, operation) in self.0.context.operations.iter() {
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

    /// Returns whether nothing can wake the code: it awaits something that is not an operation.
    #[must_use]
    pub fn is_stuck(self) -> bool {
        self.0.context.state.is_running()
            && self.0.context.operations.is_empty()
            && self.has_nothing_pending()
            && self.0.context.position.unfolded.is_empty()
    }

    /// Returns whether nothing waits for a poll of its own.
    pub(super) fn has_nothing_pending(self) -> bool {
        self.0.context.operations.pending.is_empty()
            && !self.0.event_queue.has_matches()
            && !self.0.early.has_due(&self.0.context)
    }

    /// Returns whether everything known is folded and resolved, so that new work may begin.
    pub(super) fn is_at_frontier(self) -> bool {
        self.0.context.is_folded() && self.has_nothing_pending()
    }

    /// Returns whether an attempt of a step may begin: everything known is folded, and the run is
    /// neither paused nor cancelled.
    pub(super) fn may_begin(self) -> bool {
        let state = &self.0.context.state;
        self.is_at_frontier()
            && state.is_running()
            && state.pause == Pause::No
            && !state.is_cancelled()
    }

    /// Returns whether an undo may begin: everything known is folded, the run is not paused, and if
    /// it ends, the journal fixes its final status. No step is passing the point of no return.
    pub(super) fn may_undo(self, attempts: Attempts) -> bool {
        let state = &self.0.context.state;
        let has_nothing_pending =
            matches!(state.phase, Phase::Broken(_)) || self.has_nothing_pending();
        attempts.may_begin()
            && !held::is_passing(&self.0.context)
            && self.0.context.is_folded()
            && has_nothing_pending
            && state.pause == Pause::No
            && (state.is_running()
                || self.0.rollback.is_ending_decided()
                || self.is_next_undo_own())
    }

    /// Returns the steps whose next attempt may begin.
    pub fn startable(self) -> impl Iterator<Item = OpId> + Clone + 'a {
        let steps = self.may_begin().then(|| self.0.context.operations.steps());
        let is_runnable = |step: &StepOp| step.phase == StepPhase::Runnable;
        let steps = steps.into_iter().flatten();
        steps.filter_map(move |(op, _, step)| is_runnable(step).then_some(op))
    }

    /// Returns whether the code called the step at this location and no attempt of it has begun.
    #[must_use]
    pub fn is_unbegun(self, location: &Location) -> bool {
        let mut steps = self.0.context.operations.steps();
        steps.any(|(_, at, step)| {
            let is_called = step.next_start == NextStart::Called;
            at == location && is_called && step.phase == StepPhase::Runnable
        })
    }

    /// Returns the steps with an attempt in flight, or one whose end is not durable yet.
    pub fn steps_in_flight(self) -> impl Iterator<Item = &'a Location> {
        let in_flight = self.0.context.operations.steps().filter(|(_, _, step)| {
            matches!(
                step.phase,
                StepPhase::Announcing | StepPhase::Running | StepPhase::Recording
            )
        });
        in_flight.map(|(_, location, _)| location)
    }

    /// Returns whether this process executes no attempt. A result that is not folded yet has ended
    /// its attempt, and an announced attempt has not begun.
    #[must_use]
    pub fn is_quiet(self) -> bool {
        let mut steps = self.0.context.operations.steps();
        !steps.any(|(_, _, step)| step.phase == StepPhase::Running)
    }

    /// Returns whether a pause was requested and the journal does not contain it yet.
    #[must_use]
    pub fn is_pausing(self) -> bool {
        self.0.context.state.pause == Pause::Requested
            && !control::pause_ends_ahead(&self.0.rollback, &self.0.context)
            && !control::is_pause_recorded(&self.0.context)
    }

    /// Returns the request to cancel the run.
    #[must_use]
    pub fn cancellation(self) -> Option<&'a CancelRequested> {
        self.0.context.state.cancellation.as_ref()
    }

    /// Returns whether the run was cancelled and its code continues to call operations.
    #[must_use]
    pub fn ignores_cancellation(self) -> bool {
        self.0.context.state.ignores_cancellation()
    }

    /// Returns the divergence that the run is parked with, if the journal ends with one.
    #[must_use]
    pub fn parked(self) -> Option<&'a Failure> {
        self.0.context.state.parked.as_ref()
    }

    /// Returns the location of an open operation.
    #[must_use]
    pub fn location_of(self, op: OpId) -> Option<&'a Location> {
        let operation = self.0.context.operations.get(op);
        operation.map(|operation| &operation.location)
    }

    /// Returns the rollbacks of the execution.
    #[must_use]
    pub fn rollback(self) -> &'a Rollback {
        &self.0.rollback
    }

    /// Returns whether anything was undone.
    #[must_use]
    pub fn has_undone(self) -> bool {
        self.0.rollback.log.fold.has_undone || self.0.loops.iterations.undos_dropped.undone
    }

    /// Returns whether an undo ever began: another pass of the function must not rely on earlier
    /// results.
    #[must_use]
    pub fn has_begun_undoing(self) -> bool {
        self.0.rollback.log.fold.has_begun || self.0.loops.iterations.undos_dropped.begun
    }

    /// Returns whether the next undo was requested by code that has returned meanwhile.
    #[must_use]
    pub fn is_next_undo_own(self) -> bool {
        self.0.rollback.is_next_own(&self.0.context.state.phase)
    }

    /// Returns whether the failure of an execution that cannot continue must be recorded before the
    /// undos that it needs.
    #[must_use]
    pub fn must_break_off_first(self) -> bool {
        let context = &self.0.context;
        let mut known = context.state.held.iter().chain(&context.position.unfolded);
        let is_forced = |entry: &Entry| matches!(&entry.record.body, Body::ForcedFailure(forced) if forced.location.is_none());
        !self.0.rollback.log.fold.done.is_empty() && !known.any(is_forced)
    }

    /// Returns whether a location is in an iteration that is no longer in the journal.
    #[must_use]
    pub fn has_dropped(self, location: &Location) -> bool {
        self.0.loops.iterations.has_dropped(&location.scope)
    }

    /// Returns the rows that the run leaves in the store if it ends now.
    #[must_use]
    pub fn remaining_rows(self) -> Vec<Obsolete> {
        let open = self.0.context.operations.iter();
        let open = open.flat_map(|(_, operation)| operation.rows());
        let own = self.0.context.run.rows();
        open.chain(own).chain(self.0.rollback.timers()).collect()
    }

    /// Returns the children that the run leaves if it ends now.
    #[must_use]
    pub fn remaining_children(self) -> Vec<LeftChild> {
        children::remaining(&self.0.context).collect()
    }
}
