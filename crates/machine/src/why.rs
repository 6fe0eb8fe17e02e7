//! Why a run is not moving, from its journal and from whether anybody offers its code.
//!
//! The answer is data first, so that a dashboard can link it, and a plain sentence second. It reads no clock: a reader
//! who knows the time can tell a timer that is due from one that is not.

mod sentence;
#[cfg(test)]
mod tests;

use everstep_model::{Failure, Location, Name, RpcId, RunId, RunStatus, StepStatus, Timestamp};
use serde::Serialize;

use crate::overview::{Overview, PauseView, RollbackView, StepView, WaitView};

/// What a run is doing, and everything it waits for. Displayed as one sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// What it is doing.
    pub status: RunStatus,
    /// What it waits for. None means that nothing holds it up.
    pub reasons: Vec<Reason>,
}

/// One thing a run waits for. Displayed as what the run does, without a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum Reason {
    /// The end of a sleep.
    TimerAt {
        /// The sleep.
        location: Location,
        /// When it ends.
        due: Timestamp,
    },
    /// An event.
    Event {
        /// One of these.
        names: Vec<Name>,
        /// Since when.
        since: Timestamp,
        /// When the wait gives up.
        deadline: Option<Timestamp>,
    },
    /// The answer to a question.
    Answer {
        /// What is asked.
        method: Name,
        /// The id under which it is answered.
        rpc_id: RpcId,
        /// Since when.
        since: Timestamp,
        /// When the question is withdrawn.
        deadline: Option<Timestamp>,
    },
    /// The end of a child.
    Child {
        /// The child.
        run: RunId,
        /// Its workflow.
        workflow: Name,
        /// Since when.
        since: Timestamp,
    },
    /// The next attempt of a step.
    RetryAt {
        /// The step.
        step: Location,
        /// The attempt that comes next.
        attempt: u32,
        /// When it begins, if that is known.
        at: Option<Timestamp>,
        /// Why the last one failed.
        last_error: Option<Failure>,
    },
    /// The next attempt of the whole function.
    ExecutionRetry {
        /// When it begins.
        at: Timestamp,
        /// The attempt that comes next.
        attempt: u32,
        /// Why the last one failed.
        last_error: Failure,
    },
    /// A step that is being executed, or due to be.
    StepRunning {
        /// The step.
        step: Location,
        /// Which attempt.
        attempt: u32,
        /// Since when, if that is known.
        since: Option<Timestamp>,
    },
    /// A step that is being undone.
    UndoRunning {
        /// The step.
        step: Location,
        /// Which attempt to undo it.
        attempt: u32,
        /// Since when.
        since: Timestamp,
    },
    /// The next attempt to undo a step.
    UndoRetryAt {
        /// The step.
        step: Location,
        /// The attempt that comes next.
        attempt: u32,
        /// When it begins.
        at: Timestamp,
        /// Why the last one failed.
        last_error: Failure,
    },
    /// A worker: none that is alive offers this workflow in this version.
    NoWorker {
        /// The workflow.
        workflow: Name,
        /// The version of it that the run keeps.
        version: u32,
    },
    /// Code that fits the journal.
    Diverged {
        /// Where the two part, if that is known.
        location: Option<Location>,
        /// What was recorded, what the code did, and what to do.
        error: Failure,
    },
    /// Somebody to resume it.
    Paused {
        /// Who paused it, as far as known.
        by: Option<String>,
        /// Why.
        reason: Option<String>,
    },
    /// Nothing: it is over.
    Finished {
        /// How it ended.
        status: RunStatus,
    },
    /// Its turn: a worker offers its code and will take it.
    Queued,
    /// The store. Said by whoever could not read the journal; [`why`] never does.
    StoreUnavailable {
        /// What the store said.
        detail: String,
    },
}

/// Why a run is not moving. `offered` says whether a live worker offers its workflow in its version.
#[must_use]
pub fn why(overview: &Overview, offered: bool) -> Why {
    let status = overview.status();
    let mut reasons = match status {
        RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::RollbackFailed
        | RunStatus::Cancelled
        | RunStatus::Terminated => {
            let reasons = vec![Reason::Finished { status }];
            return Why { status, reasons };
        }
        RunStatus::Diverged => divergence(overview),
        RunStatus::Paused => paused(overview),
        RunStatus::Queued if offered => vec![Reason::Queued],
        RunStatus::Queued => Vec::new(),
        RunStatus::Pausing | RunStatus::Cancelling => steps_in_flight(overview),
        RunStatus::RollingBack => rollback(overview),
        RunStatus::Running | RunStatus::Sleeping | RunStatus::Waiting | RunStatus::Retrying => {
            operations(overview)
        }
    };
    if let Some(workflow) = overview.workflow.clone().filter(|_| !offered) {
        let version = overview.version;
        reasons.push(Reason::NoWorker { workflow, version });
    }
    Why { status, reasons }
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

fn paused(overview: &Overview) -> Vec<Reason> {
    let Some(PauseView::Paused { request, reason }) = &overview.pause else {
        return Vec::new();
    };
    let asked = request.as_ref().and_then(|request| request.reason.clone());
    vec![Reason::Paused {
        by: request.as_ref().and_then(|request| request.by.clone()),
        reason: reason.as_ref().map(ToString::to_string).or(asked),
    }]
}

fn rollback(overview: &Overview) -> Vec<Reason> {
    let mut reasons = match &overview.rollback {
        Some(RollbackView::Undoing {
            step,
            attempt,
            since,
        }) => vec![Reason::UndoRunning {
            step: step.clone(),
            attempt: *attempt,
            since: *since,
        }],
        Some(RollbackView::Retrying {
            step,
            attempt,
            error,
            retry_at,
        }) => vec![Reason::UndoRetryAt {
            step: step.clone(),
            attempt: attempt.saturating_add(1),
            at: *retry_at,
            last_error: error.clone(),
        }],
        Some(RollbackView::Between) | None => Vec::new(),
    };
    reasons.extend(steps_in_flight(overview));
    reasons
}

fn operations(overview: &Overview) -> Vec<Reason> {
    let mut reasons = steps_in_flight(overview);
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
    reasons.extend(unmet_waits(overview).into_iter().map(|wait| Reason::Event {
        names: wait.names.clone(),
        since: wait.since,
        deadline: wait.deadline,
    }));
    reasons.extend(overview.rpcs.iter().map(|rpc| Reason::Answer {
        method: rpc.method.clone(),
        rpc_id: rpc.rpc_id.clone(),
        since: rpc.since,
        deadline: rpc.deadline,
    }));
    reasons.extend(overview.children.iter().map(|child| Reason::Child {
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

fn steps_in_flight(overview: &Overview) -> Vec<Reason> {
    let running = steps(overview, StepStatus::Running);
    running
        .map(|step| match step.next_retry_at {
            // The time of its next attempt has come; that it began is not recorded yet.
            Some(due) => (step, step.attempts.saturating_add(1), Some(due)),
            None => (step, step.attempts, step.started_at),
        })
        .map(|(step, attempt, since)| Reason::StepRunning {
            step: step.location.clone(),
            attempt,
            since,
        })
        .collect()
}

fn steps(overview: &Overview, status: StepStatus) -> impl Iterator<Item = &StepView> {
    let steps = overview.steps.iter();
    steps.filter(move |step| step.status == status)
}

/// The waits that no event at hand will end: a run whose event has come waits for its turn, not for the event.
fn unmet_waits(overview: &Overview) -> Vec<&WaitView> {
    let mut at_hand: Vec<&Name> = overview.events.iter().map(|event| &event.name).collect();
    let waits = overview.waits.iter();
    waits
        .filter(|wait| {
            let met_by = at_hand.iter().position(|name| wait.names.contains(name));
            met_by.map(|position| at_hand.remove(position)).is_none()
        })
        .collect()
}
