//! Failures told to whoever wants to hear of them: once each, after they are durable, and never in the way of anything.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use everstep_model::record::FailureOutcome;
use everstep_model::{Body, Failure, Location, Record, RunId, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something that failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FailureEvent {
    /// An attempt of a step.
    Step {
        /// Whose.
        run: RunId,
        /// The step.
        step: Location,
        /// The attempt, from 1.
        attempt: u32,
        /// Why.
        error: Failure,
        /// What follows.
        outcome: FailureOutcome,
        /// How many retries are left.
        retries_left: u32,
        /// When the next attempt begins, if there is one.
        retry_at: Option<Timestamp>,
        /// When it failed.
        at: Timestamp,
    },
    /// An attempt to undo a step.
    Undo {
        /// Whose.
        run: RunId,
        /// The step.
        step: Location,
        /// The attempt, from 1.
        attempt: u32,
        /// Why.
        error: Failure,
        /// When the next attempt begins, if there is one.
        retry_at: Option<Timestamp>,
        /// When it failed.
        at: Timestamp,
    },
    /// A run.
    Run {
        /// Which.
        run: RunId,
        /// Why.
        error: Failure,
        /// Why its rollback failed too, if it did.
        rollback_error: Option<Failure>,
        /// When it failed.
        at: Timestamp,
    },
}

impl FailureEvent {
    /// What a record says of a failure, if it does.
    pub(crate) fn of(run: &RunId, record: &Record) -> Option<Self> {
        let (run, at) = (|| run.clone(), record.time);
        match &record.body {
            Body::StepFailed(failed) => Some(Self::Step {
                run: run(),
                step: failed.location.clone(),
                attempt: failed.attempt,
                error: failed.error.clone(),
                outcome: failed.outcome,
                retries_left: failed.retries_left.unwrap_or_default(),
                retry_at: failed.retry_at,
                at,
            }),
            Body::UndoFailed(failed) => Some(Self::Undo {
                run: run(),
                step: failed.location.clone(),
                attempt: failed.attempt,
                error: failed.error.clone(),
                retry_at: failed.retry_at,
                at,
            }),
            Body::Failed(failed) => Some(Self::Run {
                run: run(),
                error: failed.error.clone(),
                rollback_error: None,
                at,
            }),
            Body::RollbackFailed(failed) => Some(Self::Run {
                run: run(),
                error: failed.error.clone(),
                rollback_error: Some(failed.rollback_error.clone()),
                at,
            }),
            _ => None,
        }
    }
}

/// Hears of failures. It is called from a task of its own; if it panics, that is logged and nothing else.
pub type FailureHook = Arc<dyn Fn(&FailureEvent) + Send + Sync>;

/// The way from commits to hooks.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Option<UnboundedSender<FailureEvent>>>);

impl Failures {
    /// A way to these hooks, and the task that calls them; none if there are none.
    pub(crate) fn to(hooks: Vec<FailureHook>) -> (Self, Option<impl Future<Output = ()> + Send>) {
        if hooks.is_empty() {
            return (Self::default(), None);
        }
        let (send, receive) = unbounded_channel();
        (Self(Mutex::new(Some(send))), Some(tell(hooks, receive)))
    }

    pub(crate) fn report(&self, event: FailureEvent) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender {
            let _ = sender.send(event);
        }
    }

    /// Lets the task end once it has told everything.
    pub(crate) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

async fn tell(hooks: Vec<FailureHook>, mut events: UnboundedReceiver<FailureEvent>) {
    while let Some(event) = events.recv().await {
        for hook in &hooks {
            if catch_unwind(AssertUnwindSafe(|| hook(&event))).is_err() {
                tracing::error!(?event, "a failure hook panicked");
            }
        }
    }
}
