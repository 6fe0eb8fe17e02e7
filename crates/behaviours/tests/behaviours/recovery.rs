//! Recovery: what an engine does with the runs of the process before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep::testing::{TestEngine, VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, RunStatus, Workflows, hours, minutes, secs};
use everstep_store::{
    Answer, BoxFuture, Call, Commit, Description, InboxLease, Intercept, MemoryStore, Store,
    StoreError,
};

use crate::log::Log;
use crate::support::{for_each_store_in_process, json, ok};

/// Executes a step of ten minutes, or sleeps for an hour first.
async fn work(ctx: Ctx<AnyEvent>, sleeps: bool) -> everstep::Result<()> {
    if sleeps {
        ctx.sleep("nap", hours(1)).await?;
    }
    let work = || async {
        tokio::time::sleep(minutes(10)).await;
        ok(()).await
    };
    ctx.step("work", work).await
}

// B174
#[test]
fn recovery_executes_ready_runs_leaves_sleeping_ones_and_logs_their_number() {
    for_each_store_in_process(async |store| {
        let log = Log::default();
        let _recording = log.record();
        let workflows = Workflows::new().function("work", work);
        let mut test = store.engine().workflows(workflows).start().await;
        for n in 0..20 {
            let start = test.start_by_name("work", json(&(n >= 3)));
            start.id(format!("r{n}")).await.unwrap();
        }
        test.advance(minutes(1)).await;
        test.restart().await;
        test.advance(secs(1)).await;
        assert_eq!(log.lines_with("runs recovered recovered=3"), 1);
        assert_eq!(test.hot_runs(), 3, "sleeping runs are not read");
        for (n, expected) in [(0, RunStatus::Running), (3, RunStatus::Sleeping)] {
            let run = test.run(format!("r{n}")).await.unwrap();
            assert_eq!(run.status().await.unwrap(), expected);
        }
    });
}

fn is_claim(commit: &Commit) -> bool {
    match commit {
        Commit::Deliver(deliver) => matches!(deliver.lease, InboxLease::Claim(_)),
        _ => false,
    }
}

/// Notes the largest number of claims in flight.
struct Claims {
    store: MemoryStore,
    in_flight: AtomicUsize,
    most: AtomicUsize,
}

impl Intercept for Claims {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(self.store.clone()))
    }

    fn description(&self) -> Description {
        self.store.describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            let Call::Commit { batch } = &call else {
                return call.perform(&self.store).await;
            };
            let claims = batch.iter().filter(|commit| is_claim(commit)).count();
            let now = self.in_flight.fetch_add(claims, Ordering::SeqCst) + claims;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(secs(1)).await;
            let answer = call.perform(&self.store).await;
            self.in_flight.fetch_sub(claims, Ordering::SeqCst);
            answer
        })
    }
}

// B174
#[test]
fn recovery_claims_a_bounded_number_of_runs_at_a_time() {
    virtual_time(async {
        let store = Arc::new(Claims {
            store: MemoryStore::new(Arc::new(VirtualRuntime::new(1))),
            in_flight: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        });
        let setup = TestEngine::builder().store(store.clone());
        let workflows = Workflows::new().function("work", work);
        let mut test = setup.workflows(workflows).start().await;
        for _ in 0..600 {
            test.start_by_name("work", json(&false)).await.unwrap();
        }
        store.most.store(0, Ordering::SeqCst);
        test.restart().await;
        test.advance(minutes(1)).await;
        assert_eq!(test.hot_runs(), 600);
        assert_eq!(store.most.load(Ordering::SeqCst), 256);
    });
}
