//! What reads of a large journal hold in memory at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use everstep::testing::{TestEngine, VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Error, Result, Workflows};
use everstep_model::{Body, Payload};
use everstep_server::router;
use everstep_store::{Answer, Call, Description, Intercept, MemoryStore, Store, StoreError};

use super::support::Served;
use crate::support::{JSON, open, send};

const STEPS: u32 = 200;
/// The size of the result of each step.
const RESULT_BYTES: usize = 128 * 1024;

/// The bytes of results in memory.
#[derive(Default)]
struct Meter {
    now: AtomicUsize,
    peak: AtomicUsize,
}

/// A result that is counted while it is in memory.
struct Counted(Vec<u8>, Arc<Meter>);

impl Counted {
    fn new(meter: &Arc<Meter>) -> Self {
        let now = meter.now.fetch_add(RESULT_BYTES, Ordering::Relaxed) + RESULT_BYTES;
        meter.peak.fetch_max(now, Ordering::Relaxed);
        let text = format!("\"{}\"", "x".repeat(RESULT_BYTES - 2));
        Self(text.into_bytes(), meter.clone())
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.now.fetch_sub(RESULT_BYTES, Ordering::Relaxed);
    }
}

/// A store in which the results of steps are large from a moment on.
struct LargeResults {
    inner: MemoryStore,
    are_large: AtomicBool,
    meter: Arc<Meter>,
}

impl Intercept for LargeResults {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(self.inner.clone()))
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn after(&self, call: &Call, answer: &mut Answer) -> Result<(), StoreError> {
        let (Call::Read { request }, Answer::Read(Some(page))) = (call, answer) else {
            return Ok(());
        };
        if !self.are_large.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (mut bytes, mut count) = (0, 0);
        for entry in &mut page.entries {
            if bytes >= request.bytes {
                break;
            }
            if let Body::StepCompleted(step) = &mut entry.record.body {
                let result = Bytes::from_owner(Counted::new(&self.meter));
                step.result = Payload::from_json(result).unwrap();
                bytes += RESULT_BYTES;
            }
            count += 1;
        }
        page.entries.truncate(count);
        Ok(())
    }
}

async fn stepwise(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    for step in 0..STEPS {
        ctx.step("step", || async move { Ok::<_, Error>(step) })
            .await?;
    }
    Ok(())
}

/// Serves a run whose steps have large results.
async fn served_large() -> (Arc<LargeResults>, Served) {
    let store = Arc::new(LargeResults {
        inner: MemoryStore::new(Arc::new(VirtualRuntime::new(0))),
        are_large: AtomicBool::new(false),
        meter: Arc::default(),
    });
    let test = TestEngine::builder()
        .store(store.clone())
        .workflows(Workflows::new().function("stepwise", stepwise))
        .start()
        .await;
    let app = router(&*test, open());
    let served = Served { test, app };
    served.start("stepwise", "s", "null").await;
    served.wait_for_status("s", "completed").await;
    store.are_large.store(true, Ordering::Relaxed);
    (store, served)
}

// B844
#[test]
fn reads_of_a_large_journal_hold_little_of_it_in_memory() {
    virtual_time(async {
        let (store, served) = served_large().await;
        for (method, path, status) in [
            ("GET", "/workflows/s", 200),
            ("GET", "/workflows/s?limit=1000&cursor=1.200", 200),
            ("GET", "/workflows/s/why", 200),
            ("GET", "/workflows/s/shape", 200),
            ("POST", "/workflows/s/steps/other/skip", 404),
            ("POST", "/workflows/s/steps/step/skip", 400),
        ] {
            store.meter.peak.store(0, Ordering::Relaxed);
            let response = send(&served.app, method, path, &[JSON], "").await;
            assert_eq!(response.status, status, "{path} {response:?}");
            let peak = store.meter.peak.load(Ordering::Relaxed);
            assert!(peak > 0, "{path} reads the journal");
            // One page that is read and one that is shown.
            assert!(peak <= 10 << 20, "{path} holds {peak} bytes");
            assert_eq!(store.meter.now.load(Ordering::Relaxed), 0, "{path}");
        }
    });
}

// B844
#[test]
fn pages_of_large_steps_contain_every_result_once() {
    virtual_time(async {
        let (_, served) = served_large().await;
        let (mut query, mut pages, mut steps) = (String::new(), 0, Vec::new());
        loop {
            let page = served.get(&format!("/workflows/s{query}")).await.json();
            for step in page["steps"].as_array().unwrap() {
                let size = step["result"].to_string().len();
                assert!(size >= RESULT_BYTES, "{} has no result", step["id"]);
                steps.push(step["id"].as_str().unwrap().to_owned());
            }
            pages += 1;
            let Some(cursor) = page["stepsCursor"].as_str() else {
                break;
            };
            query = format!("?cursor={cursor}");
        }
        assert!(pages > 5, "{pages}");
        let expected: Vec<_> = (0..STEPS).map(|n| format!("step:{n}")).collect();
        assert_eq!(steps, expected);
    });
}
