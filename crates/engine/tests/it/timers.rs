//! Timers of a node whose clock was set back, on a store with a clock of its own.
#![allow(clippy::disallowed_methods, reason = "the clock of tokio is virtual")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everstep_engine::simulation::VirtualRuntime;
use everstep_engine::{Activation, Engine, EngineParts, Offer, Settings, Start, Worker};
use everstep_model::{Body, Name, Payload, RecordNumber, RunId};
use everstep_store::{
    Answer, BoxFuture, Call, Commit, Description, Intercept, LocalBus, MemoryStore, Outcome,
    Refusal, Store, StoreError,
};
use tokio::time::Instant;

use crate::support::virtual_time;

const SET_BACK_MILLIS: i64 = -3_600_000;

/// A store in memory for nodes of several processes.
struct SharedStore {
    inner: Arc<dyn Store>,
    /// Whether the next timer that fires is refused because the store is unavailable.
    refuses: AtomicBool,
}

impl Intercept for SharedStore {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        Description {
            spans_processes: true,
            ..self.inner.describe()
        }
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        if let Call::Commit { batch } = &call
            && batch.iter().any(fires)
            && self.refuses.swap(false, Ordering::Relaxed)
        {
            let detail = "refused by the test".to_owned();
            let refusal = Refusal::Unreadable(StoreError::Unavailable { detail });
            let refused = batch.iter().map(|_| Outcome::Refused(refusal.clone()));
            return Box::pin(std::future::ready(Ok(Answer::Commit(refused.collect()))));
        }
        Box::pin(call.perform(&*self.inner))
    }
}

/// Returns whether a commit fires a deadline.
fn fires(commit: &Commit) -> bool {
    let mut records = commit.records().iter();
    records.any(|record| matches!(record.body, Body::DeadlinePassed(_)))
}

/// Executes nothing, so that a run only waits for its deadline.
struct Waits;

impl Worker for Waits {
    fn offers(&self) -> Vec<Offer> {
        vec![Offer {
            workflow: Name::new("w").unwrap(),
            versions: 1..=1,
        }]
    }

    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let _activation = activation;
            std::future::pending().await
        })
    }
}

/// Starts a run with a deadline on a node, sets the clock of the node back, and returns by how much
/// the deadline was late.
async fn lateness(store_error_millis: i64, refuses: bool) -> Duration {
    let store_clock = Arc::new(VirtualRuntime::new(1));
    store_clock.set_clock_error(store_error_millis);
    let store = Arc::new(SharedStore {
        inner: Arc::new(MemoryStore::new(store_clock)),
        refuses: AtomicBool::new(refuses),
    });
    let runtime = Arc::new(VirtualRuntime::new(2));
    let engine = Engine::open(EngineParts {
        store,
        bus: Arc::new(LocalBus::default()),
        runtime: runtime.clone(),
        settings: Settings::default(),
        workers: vec![Arc::new(Waits)],
        failure_hooks: Vec::new(),
    });
    let engine = engine.await.unwrap();
    let mut start = Start::new(Name::new("w").unwrap(), Payload::null());
    start.id = Some(RunId::new("r").unwrap());
    start.deadline = Some(Duration::from_secs(100));
    let due = Instant::now() + Duration::from_secs(100);
    let run = engine.start(start).await.unwrap().run;
    tokio::time::advance(Duration::from_secs(1)).await;
    runtime.set_clock_error(SET_BACK_MILLIS);
    let mut records = engine.records(&run, None, RecordNumber(0)).await.unwrap();
    while let Some(entry) = records.next().await.unwrap() {
        if matches!(entry.record.body, Body::DeadlinePassed(_)) {
            break;
        }
    }
    let late = Instant::now().checked_duration_since(due);
    late.expect("it is not early")
}

// B874
#[test]
fn a_timer_that_the_store_refuses_as_too_early_fires_when_the_store_accepts_it() {
    for behind in [1, 700, 20_000] {
        virtual_time(async move {
            let late = lateness(-behind, false).await;
            let behind = Duration::from_millis(behind.unsigned_abs());
            assert!(
                late < behind + Duration::from_secs(15),
                "late by {late:?}, {behind:?}"
            );
        });
    }
}

// B874
#[test]
fn a_timer_whose_first_firing_failed_after_the_clock_was_set_back_fires_again_soon() {
    virtual_time(async {
        let late = lateness(0, true).await;
        assert!(late < Duration::from_secs(30), "late by {late:?}");
    });
}
