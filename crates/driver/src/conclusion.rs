//! Decisions that end an activation or begin a new part of it, and the append that records them.

use everstep_machine::{Halt, Replay, UndoState, after_execution_failure};
use everstep_model::planted::{self, Bug};
use everstep_model::record::{
    CancelRequested, Cancelled, Completed, Diverged, ExecutionRetried, Failed, ForcedFailure,
    Paused, RollbackFailed,
};
use everstep_model::{Body, ErrorCode, Failure, Location, Payload, RunStatus, Timestamp};

use crate::append::Then;
use crate::returned::Returned;

/// A decision about the whole execution.
#[derive(Clone, Debug)]
pub(crate) enum Conclusion {
    Completed(Payload),
    /// The function failed, because of these operations, and is not retried.
    Failed(Failure, Vec<Location>),
    /// The function failed and is executed again.
    Retry(ExecutionRetried),
    /// The run was cancelled, and its code has ended.
    Cancelled(CancelRequested),
    /// The run's deadline passed, or an operator made it fail.
    Broken(Failure),
    /// Completed steps are undone before the run ends. This is the first record of the rollback.
    RollBack(Box<Body>),
    /// The run failed or was cancelled, and an undo has no attempts left.
    RollbackFailed {
        /// Why the run ended.
        error: Failure,
        /// Why the undo failed.
        rollback_error: Failure,
    },
    /// Nothing is left to do until the inbox grows.
    Suspended(RunStatus),
    /// A pause was requested, and nothing is in flight.
    Pause,
    /// The journal contains the pause already.
    Paused,
    /// The engine shuts down, or the journal cannot be read: another node continues.
    Released,
    Halted(Halt),
}

impl Conclusion {
    /// Returns what follows from the end of the function.
    pub(crate) fn of_return(
        returned: &Returned,
        replay: &Replay,
        retries: Option<u32>,
        now: Timestamp,
    ) -> Self {
        let is_completed = matches!(returned, Returned::Completed(_));
        let is_beaten = planted::is(Bug::CompletionBeatsCancel) && is_completed;
        if let Some(request) = replay.status().cancellation().filter(|_| !is_beaten) {
            return Self::Cancelled(request.clone());
        }
        let failed = match returned {
            Returned::Completed(result) => return Self::Completed(result.clone()),
            Returned::Failed(failed) => failed,
        };
        let info = replay.run().info.as_ref();
        let own_retries = info.and_then(|info| info.execution_retries);
        let retries = own_retries.or(retries).unwrap_or(0);
        let deadline = info.and_then(|info| info.deadline);
        // A further pass would rely on results that are undone.
        let is_undoing = replay.status().has_begun_undoing()
            || replay.status().rollback().state() != UndoState::Over;
        let (attempt, error) = (replay.run().pass, failed.failure.clone());
        if failed.is_worth_another_pass
            && !is_undoing
            && let Some(retry_at) = after_execution_failure(attempt, retries, now, deadline)
        {
            return Self::Retry(ExecutionRetried {
                attempt,
                error,
                retry_at,
            });
        }
        Self::Failed(error, failed.causes.clone())
    }

    /// Returns the reason for undoing completed steps before this end, if they are undone.
    pub(crate) fn rollback_reason(&self) -> Option<Failure> {
        match self {
            Self::Failed(failure, _) | Self::Broken(failure) => Some(failure.clone()),
            Self::Cancelled(request) => request.rollback.then(|| cancellation(request)),
            Self::Completed(_)
            | Self::Retry(_)
            | Self::RollBack(_)
            | Self::RollbackFailed { .. }
            | Self::Suspended(_)
            | Self::Pause
            | Self::Paused
            | Self::Released
            | Self::Halted(_) => None,
        }
    }

    /// Returns this end for a run whose rollback failed because an undo has no attempts left.
    pub(crate) fn with_failed_rollback(self, rollback_error: Failure) -> Self {
        match self.rollback_reason() {
            Some(error) => Self::RollbackFailed {
                error,
                rollback_error,
            },
            None => self,
        }
    }

    /// Returns the record of the decision, if it needs one.
    pub(crate) fn record(&self, replay: &Replay, sites: &[String]) -> Option<Body> {
        let status = replay.status();
        let abandoned = || status.steps_in_flight().cloned().collect();
        Some(match self {
            Self::Completed(result) => Completed {
                result: result.clone(),
                abandoned: abandoned(),
            }
            .into(),
            Self::Failed(error, causes) => failed(error.clone(), causes, replay),
            Self::Broken(error) => failed(error.clone(), &[], replay),
            Self::Retry(retried) => retried.clone().into(),
            Self::RollBack(first) => Body::clone(first),
            Self::RollbackFailed {
                error,
                rollback_error,
            } => RollbackFailed {
                error: error.clone(),
                rollback_error: rollback_error.clone(),
                abandoned: abandoned(),
            }
            .into(),
            Self::Cancelled(request) => Cancelled {
                reason: request.reason.clone(),
                rolled_back: status.has_undone(),
                abandoned: abandoned(),
            }
            .into(),
            Self::Pause => Paused { reason: None }.into(),
            Self::Halted(Halt::NotDurable(why)) => not_durable(why, replay),
            Self::Halted(halt) => return park(halt, replay, sites),
            Self::Suspended(_) | Self::Paused | Self::Released => return None,
        })
    }

    /// Returns what the append of the decision means for the run.
    pub(crate) fn then(&self, replay: &Replay) -> Then {
        // Once the journal fixes the final status, later records change nothing, except a child
        // that completes and must be undone.
        let end = if replay.status().rollback().is_beyond_change() {
            Then::EndAnyway
        } else {
            Then::End
        };
        match self {
            Self::Completed(_) => end(RunStatus::Completed),
            Self::Failed(..) | Self::Broken(_) => end(RunStatus::Failed),
            Self::RollbackFailed { .. } => end(RunStatus::RollbackFailed),
            Self::Cancelled(_) => end(RunStatus::Cancelled),
            Self::Retry(_) => Then::GoOnAs(RunStatus::Running),
            Self::RollBack(_) => Then::GoOnAs(RunStatus::RollingBack),
            Self::Suspended(status) => Then::Suspend(*status),
            Self::Pause | Self::Paused => Then::Suspend(RunStatus::Paused),
            Self::Released => Then::Release,
            Self::Halted(Halt::NotDurable(_)) if replay.status().must_break_off_first() => {
                Then::GoOnAs(RunStatus::RollingBack)
            }
            Self::Halted(Halt::NotDurable(_)) => Then::End(RunStatus::Failed),
            Self::Halted(_) => Then::Park(RunStatus::Diverged),
        }
    }
}

fn failed(error: Failure, causes: &[Location], replay: &Replay) -> Body {
    let status = replay.status();
    Failed {
        error,
        rolled_back: status.has_undone(),
        abandoned: status.steps_in_flight().cloned().collect(),
        caused_by: causes.to_vec(),
    }
    .into()
}

/// Returns the record of a run whose code used something that is not durable. A replay would not
/// end here by itself, so the failure is recorded before any undo.
fn not_durable(why: &str, replay: &Replay) -> Body {
    let error = Failure::new(ErrorCode::NotDurable, why);
    if !replay.status().must_break_off_first() {
        return failed(error, &[], replay);
    }
    ForcedFailure {
        location: None,
        error,
        by: Some("everstep".to_owned()),
        so_far: None,
    }
    .into()
}

/// Returns the record of a parked run. `None` if the journal ends with the same one.
fn park(halt: &Halt, replay: &Replay, sites: &[String]) -> Option<Body> {
    let (location, error) = match halt {
        Halt::Diverged(divergence) => (divergence.location().cloned(), divergence.failure(sites)),
        Halt::Newer(kind) => {
            let message = format!(
                "the journal holds a `{kind}` record, which this release cannot execute; run it with the release that \
                 wrote it, or a newer one"
            );
            (None, Failure::new(ErrorCode::JournalNewer, message))
        }
        Halt::Damaged(detail) => {
            let message = format!("the journal is damaged: {detail}; restore it from a backup");
            (None, Failure::new(ErrorCode::StoreCorrupt, message))
        }
        Halt::NotDurable(why) => (None, Failure::new(ErrorCode::NotDurable, why.clone())),
        Halt::Refused(reason) => (None, Failure::clone(reason)),
    };
    let is_known = replay.status().parked() == Some(&error);
    (!is_known).then(|| Diverged { location, error }.into())
}

/// Returns the cancellation as the reason of a rollback.
fn cancellation(request: &CancelRequested) -> Failure {
    let message = match &request.reason {
        Some(reason) => format!("the run was cancelled: {reason}"),
        None => "the run was cancelled".to_owned(),
    };
    Failure::new(ErrorCode::Cancelled, message)
}
