//! Observers that fail do not affect the execution of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, RecordFeed, Retry, Workflows, minutes};
use everstep_store::{Call, Description, Intercept, MemoryStore, SharedKind, Store, StoreError};

use crate::support::{fail, json, ok};

/// A store from which no record can be copied into a feed.
struct WithoutFeeds {
    inner: Arc<MemoryStore>,
    refused: AtomicU32,
}

impl Intercept for WithoutFeeds {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn before(&self, call: &Call) -> Result<(), StoreError> {
        match call {
            Call::Rows { range } if range.kind == SharedKind::Feed => {
                self.refused.fetch_add(1, Ordering::SeqCst);
                Err(StoreError::Unavailable {
                    detail: "the test says so".to_owned(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// A step that fails, a sleep and a step.
async fn work(ctx: Ctx<AnyEvent>, (): ()) -> everstep::Result<u32> {
    let failing = ctx.step("s", || fail("no")).retry(Retry::none());
    failing.best_effort().await?;
    ctx.emit("progress", &1)?;
    ctx.sleep("nap", minutes(1)).await?;
    ctx.step("t", || ok(7)).await
}

// B858
#[test]
fn a_feed_that_cannot_be_copied_does_not_affect_runs() {
    virtual_time(async {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let store = Arc::new(WithoutFeeds {
            inner: Arc::new(MemoryStore::new(runtime.clone())),
            refused: AtomicU32::new(0),
        });
        let engine = Engine::on_store(store.clone()).runtime(runtime);
        let engine = engine
            .feeds([RecordFeed::Records, RecordFeed::Failures])
            .workflows(Workflows::new().function("w", work))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        let result = run.wait_json_within(minutes(10)).await.unwrap();
        assert_eq!(result.decode::<u32>().unwrap(), 7);
        assert!(store.refused.load(Ordering::SeqCst) > 0);
        engine.shutdown().await;
    });
}
