//! Failures of steps, undos and runs, passed to hooks once they are durable. Hooks run in a task of
//! their own and cannot delay anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use everstep_model::record::FailureOutcome;
use everstep_model::{Body, Failure, Location, Record, RunId, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::lock::lock;

/// A failure that is recorded in a journal. Attempts are counted from 1; `retry_at` is `None` if no
/// attempt follows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "plain data")]
pub enum FailureEvent {
    /// An attempt of a step failed.
    Step {
        run: RunId,
        step: Location,
        attempt: u32,
        error: Failure,
        outcome: FailureOutcome,
        retries_left: u32,
        retry_at: Option<Timestamp>,
        at: Timestamp,
    },
    /// An attempt to undo a step failed.
    Undo {
        run: RunId,
        step: Location,
        attempt: u32,
        error: Failure,
        retry_at: Option<Timestamp>,
        at: Timestamp,
    },
    /// A run failed, and perhaps its rollback too.
    Run {
        run: RunId,
        error: Failure,
        rollback_error: Option<Failure>,
        at: Timestamp,
    },
}

impl FailureEvent {
    /// Returns the failure that a record describes.
    pub(crate) fn of(run: &RunId, record: &Record) -> Option<Self> {
        let at = record.time;
        let run_failed = |error: &Failure, rollback_error: Option<&Failure>| Self::Run {
            run: run.clone(),
            error: error.clone(),
            rollback_error: rollback_error.cloned(),
            at,
        };
        Some(match &record.body {
            Body::StepFailed(failed) => Self::Step {
                run: run.clone(),
                step: failed.location.clone(),
                attempt: failed.attempt,
                error: failed.error.clone(),
                outcome: failed.outcome,
                retries_left: failed.retries_left.unwrap_or_default(),
                retry_at: failed.retry_at,
                at,
            },
            Body::UndoFailed(failed) => Self::Undo {
                run: run.clone(),
                step: failed.location.clone(),
                attempt: failed.attempt,
                error: failed.error.clone(),
                retry_at: failed.retry_at,
                at,
            },
            Body::Failed(failed) => run_failed(&failed.error, None),
            Body::RollbackFailed(failed) => run_failed(&failed.error, Some(&failed.rollback_error)),
            _ => return None,
        })
    }
}

/// Called for each failure, from a task of its own. A panic is logged and has no other effect.
pub type FailureHook = Arc<dyn Fn(&FailureEvent) + Send + Sync>;

/// The queue from commits to hooks.
#[derive(Default)]
pub(crate) struct FailureHooks(Mutex<Option<UnboundedSender<FailureEvent>>>);

impl FailureHooks {
    /// Returns the queue and the task that calls the hooks. `None` if there are no hooks.
    pub(crate) fn new(hooks: Vec<FailureHook>) -> (Self, Option<impl Future<Output = ()> + Send>) {
        if hooks.is_empty() {
            return (Self::default(), None);
        }
        let (send, receive) = unbounded_channel();
        (Self(Mutex::new(Some(send))), Some(call(hooks, receive)))
    }

    pub(crate) fn report(&self, event: FailureEvent) {
        if let Some(sender) = &*lock(&self.0) {
            let _ = sender.send(event);
        }
    }

    /// Lets the task end once the queue is empty.
    pub(crate) fn close(&self) {
        lock(&self.0).take();
    }
}

async fn call(hooks: Vec<FailureHook>, mut events: UnboundedReceiver<FailureEvent>) {
    while let Some(event) = events.recv().await {
        for hook in &hooks {
            if catch_unwind(AssertUnwindSafe(|| hook(&event))).is_err() {
                tracing::error!(?event, "failure hook panicked");
            }
        }
    }
}
