//! Why a run is not moving, computed from its journal and from whether a worker offers its code.
//!
//! The answer is structured, so that a dashboard can link to its parts, and displays as a sentence.
//! The current time only decides which attempts have run for long; the caller compares times to
//! find overdue timers.

mod reason;
mod sentence;
#[cfg(test)]
mod tests;

use everstep_model::{LONG_ATTEMPT, RunStatus, StepStatus, Timestamp};

pub use reason::{Reason, Why};

use crate::overview::{EndingView, Overview, PauseView, RollbackView, StepView};

/// Returns why a run is not moving. `offered` states whether a live worker offers its workflow in
/// its version.
#[must_use]
pub fn why(overview: &Overview, offered: bool, now: Timestamp) -> Why {
    why_with_status(overview, overview.status(), offered, now)
}

/// Returns why a run with this status is not moving. See [`Overview::status_in`].
#[must_use]
pub fn why_with_status(
    overview: &Overview,
    status: RunStatus,
    offered: bool,
    now: Timestamp,
) -> Why {
    if status.is_terminal() {
        return Why {
            status,
            reasons: vec![finished(overview, status)],
            deadline: None,
        };
    }
    let mut reasons = held_by(overview);
    reasons.extend(waits_for(overview, status, offered, now));
    if let Some(workflow) = overview.workflow.clone().filter(|_| !offered) {
        let version = overview.version;
        reasons.push(Reason::NoWorker { workflow, version });
    }
    Why {
        status,
        reasons,
        deadline: overview.deadline.filter(|_| overview.ending.is_none()),
    }
}

fn finished(overview: &Overview, status: RunStatus) -> Reason {
    Reason::Finished {
        status,
        error: overview.error.clone(),
        caused_by: overview.caused_by.clone(),
        rollback_error: overview.rollback_error.clone(),
        reason: overview.reason.clone(),
    }
}

/// Requests that concern the whole run.
fn held_by(overview: &Overview) -> Vec<Reason> {
    let mut reasons: Vec<_> = overview.pause.iter().map(of_pause).collect();
    reasons.extend(overview.ending.iter().map(of_ending));
    reasons
}

fn waits_for(overview: &Overview, status: RunStatus, offered: bool, now: Timestamp) -> Vec<Reason> {
    match status {
        RunStatus::Diverged => divergence(overview),
        RunStatus::Queued if offered => vec![Reason::Queued],
        RunStatus::Pausing => in_flight(overview, now),
        RunStatus::Cancelling | RunStatus::RollingBack => rollback(overview, now),
        RunStatus::Running | RunStatus::Sleeping | RunStatus::Waiting | RunStatus::Retrying => {
            operations(overview, now)
        }
        RunStatus::Queued
        | RunStatus::Paused
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::RollbackFailed
        | RunStatus::Cancelled
        | RunStatus::Terminated => Vec::new(),
    }
}

fn divergence(overview: &Overview) -> Vec<Reason> {
    let diverged = overview.diverged.iter();
    diverged
        .map(|diverged| Reason::Diverged {
            location: diverged.location.clone(),
            error: diverged.error.clone(),
        })
        .collect()
}

fn of_pause(pause: &PauseView) -> Reason {
    match pause {
        PauseView::Requested(request) => Reason::PauseRequested {
            by: request.by.clone(),
            reason: request.reason.clone(),
        },
        PauseView::Paused { request, reason } => {
            let requested = request.as_ref().and_then(|request| request.reason.clone());
            Reason::Paused {
                by: request.as_ref().and_then(|request| request.by.clone()),
                reason: reason.as_ref().map(ToString::to_string).or(requested),
            }
        }
    }
}

fn of_ending(ending: &EndingView) -> Reason {
    match ending {
        EndingView::Cancel(request) => Reason::CancelRequested {
            by: request.by.clone(),
            reason: request.reason.clone(),
            rollback: request.rollback,
        },
        EndingView::Deadline(deadline) => Reason::DeadlinePassed {
            deadline: *deadline,
        },
        EndingView::Forced(forced) => Reason::ForcedFailure {
            by: forced.by.clone(),
            error: forced.error.clone(),
        },
    }
}

/// Returns the steps and undos in flight. Retries are left out, because a run that is pausing
/// starts none.
fn in_flight(overview: &Overview, now: Timestamp) -> Vec<Reason> {
    let undoing = undo(overview).filter(|undo| matches!(undo, Reason::UndoRunning { .. }));
    let steps = steps_in_flight(overview, now);
    undoing.into_iter().chain(steps).collect()
}

fn rollback(overview: &Overview, now: Timestamp) -> Vec<Reason> {
    let steps = steps_in_flight(overview, now);
    undo(overview).into_iter().chain(steps).collect()
}

fn undo(overview: &Overview) -> Option<Reason> {
    match overview.rollback.as_ref()? {
        RollbackView::Undoing {
            step,
            attempt,
            since,
        } => Some(Reason::UndoRunning {
            step: step.clone(),
            attempt: *attempt,
            since: *since,
        }),
        RollbackView::Retrying {
            step,
            attempt,
            error,
            retry_at,
        } => Some(Reason::UndoRetryAt {
            step: step.clone(),
            attempt: attempt.saturating_add(1),
            at: *retry_at,
            last_error: error.clone(),
        }),
        RollbackView::Between => None,
    }
}

fn operations(overview: &Overview, now: Timestamp) -> Vec<Reason> {
    let mut reasons = steps_in_flight(overview, now);
    if overview.ending.is_some() {
        return reasons;
    }
    if let Some(retry) = &overview.execution_retry {
        return vec![Reason::ExecutionRetry {
            at: retry.retry_at,
            attempt: retry.attempt.saturating_add(1),
            last_error: retry.error.clone(),
        }];
    }
    reasons.extend(
        overview
            .unmet_waits()
            .into_iter()
            .map(|wait| Reason::Event {
                location: wait.location.clone(),
                names: wait.names.clone(),
                since: wait.since,
                deadline: wait.deadline,
                batch: wait.batch,
            }),
    );
    reasons.extend(overview.rpcs.iter().map(|rpc| Reason::Answer {
        location: rpc.location.clone(),
        method: rpc.method.clone(),
        rpc_id: rpc.rpc_id.clone(),
        since: rpc.since,
        deadline: rpc.deadline,
    }));
    reasons.extend(overview.children.iter().map(|child| Reason::Child {
        location: child.location.clone(),
        run: child.run.clone(),
        workflow: child.workflow.clone(),
        since: child.since,
    }));
    reasons.extend(
        steps(overview, StepStatus::Retrying).map(|step| Reason::RetryAt {
            step: step.location.clone(),
            attempt: step.attempts.saturating_add(1),
            at: step.next_retry_at,
            last_error: step.error.clone(),
        }),
    );
    reasons.extend(overview.sleeps.iter().map(|sleep| Reason::TimerAt {
        location: sleep.location.clone(),
        due: sleep.until,
    }));
    reasons
}

fn steps_in_flight(overview: &Overview, now: Timestamp) -> Vec<Reason> {
    let running = steps(overview, StepStatus::Running);
    running
        .map(|step| match step.next_retry_at {
            // The next attempt is due, and its start is not recorded yet.
            Some(due) => (step, step.attempts.saturating_add(1), Some(due)),
            None => (step, step.attempts, step.started_at),
        })
        .map(|(step, attempt, since)| Reason::StepRunning {
            step: step.location.clone(),
            attempt,
            since,
            lacks_timeout: lacks_timeout(step, since, now),
        })
        .collect()
}

/// Returns whether an attempt has run for long and nothing will end it.
fn lacks_timeout(step: &StepView, since: Option<Timestamp>, now: Timestamp) -> bool {
    let is_unlimited = step
        .options
        .is_some_and(|options| options.timeout.is_none());
    is_unlimited && since.is_some_and(|since| since.after(LONG_ATTEMPT) < now)
}

fn steps(overview: &Overview, status: StepStatus) -> impl Iterator<Item = &StepView> {
    let steps = overview.steps.iter();
    steps.filter(move |step| step.status == status)
}
