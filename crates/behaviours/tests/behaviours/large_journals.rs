//! Journals that a node should not read: they are too large for it, reading them ends the process,
//! or they are damaged.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use everstep::journal::Generation;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, ErrorCode, Payload, Result, RunHandle, RunId, RunStatus, Settings,
    Workflows, hours, secs,
};
use everstep_model::{StreamName, StreamNumber};
use everstep_store::{
    Answer, BoxFuture, Call, Description, Intercept, MemoryStore, Store, StoreError, StreamRef,
};

use crate::support::{TestStore, for_each_store_in_process, json, ok, output, ping};

/// What happens when a journal is read.
#[derive(Clone, Copy)]
enum OnRead {
    /// The call never returns, as if the journal used up the memory of the process.
    Hang,
    /// The journal is damaged.
    Fail,
}

/// A store with one journal that cannot be read.
struct Unreadable {
    inner: MemoryStore,
    journal: Mutex<Option<(StreamNumber, OnRead)>>,
    reads: AtomicU32,
}

impl Unreadable {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(Arc::new(VirtualRuntime::new(0))),
            journal: Mutex::default(),
            reads: AtomicU32::new(0),
        })
    }

    async fn set(&self, run: &str, on_read: OnRead) {
        let name = StreamName::of_run(&RunId::new(run).unwrap(), Generation::FIRST);
        let head = self.inner.head(StreamRef::Name(name)).await.unwrap();
        *self.journal.lock().unwrap() = Some((head.unwrap().number, on_read));
    }

    fn repair(&self) {
        *self.journal.lock().unwrap() = None;
    }
}

impl Intercept for Unreadable {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(self.inner.clone()))
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            let unreadable = *self.journal.lock().unwrap();
            if let (Call::Read { request }, Some((stream, on_read))) = (&call, unreadable)
                && request.stream == stream
            {
                self.reads.fetch_add(1, Ordering::Relaxed);
                match on_read {
                    OnRead::Hang => std::future::pending().await,
                    OnRead::Fail => return Err(StoreError::corrupt("the test", "damaged")),
                }
            }
            call.perform(&self.inner).await
        })
    }
}

async fn waits(ctx: Ctx<AnyEvent>, _: Payload) -> Result<u32> {
    ctx.event_by_name("ping").await?;
    ctx.step("after", || ok(7)).await
}

async fn quick(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let work = || async {
        tokio::time::sleep(secs(10)).await;
        Ok::<_, everstep::Error>(1)
    };
    ctx.step("work", work).await
}

/// Waits for a child and for a timer.
async fn family(ctx: Ctx<AnyEvent>, child: String) -> Result<()> {
    let (waited, slept) = futures_util::future::join(
        ctx.child_by_name("waits", Payload::null())
            .id(child.as_str())
            .into_future(),
        ctx.sleep("long", hours(10)).into_future(),
    )
    .await;
    waited?;
    slept
}

fn workflows() -> Workflows {
    Workflows::new()
        .function("waits", waits)
        .function("quick", quick)
        .function("family", family)
}

async fn open(store: &Arc<Unreadable>, process: &Arc<VirtualRuntime>) -> Engine {
    let builder = Engine::on_store(store.clone()).runtime(process.clone());
    builder.workflows(workflows()).start().await.unwrap()
}

async fn reach(run: &RunHandle, expected: RunStatus) {
    for _ in 0..1_000 {
        if run.status().await.unwrap() == expected {
            return;
        }
        tokio::time::sleep(secs(1)).await;
    }
    panic!("the run is {}", run.status().await.unwrap());
}

// B700
#[test]
fn a_run_whose_journal_ends_the_process_is_paused_and_other_runs_go_on() {
    virtual_time(async {
        let store = Unreadable::new();
        let mut process = Arc::new(VirtualRuntime::new(1));
        let engine = open(&store, &process).await;
        engine
            .start_by_name("waits", json(&()))
            .id("r")
            .await
            .unwrap();
        tokio::time::sleep(secs(1)).await;
        store.set("r", OnRead::Hang).await;
        let mut others = Vec::new();
        for death in 0..12 {
            let id = format!("q{death}");
            process.crash().await;
            process = Arc::new(process.successor());
            tokio::time::sleep(secs(60)).await;
            let engine = open(&store, &process).await;
            if death == 0 {
                ping(&engine.run("r").await.unwrap(), 1).await;
            }
            // It is interrupted by the next death.
            tokio::time::sleep(secs(15)).await;
            let other = engine.start_by_name("quick", json(&())).id(id.clone());
            other.await.unwrap();
            tokio::time::sleep(secs(5)).await;
            others.push(id);
        }
        assert_eq!(store.reads.load(Ordering::Relaxed), 11);
        store.repair();
        process.crash().await;
        process = Arc::new(process.successor());
        tokio::time::sleep(secs(60)).await;
        let engine = open(&store, &process).await;
        let run = engine.run("r").await.unwrap();
        assert_eq!(run.status().await.unwrap(), RunStatus::Paused);
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("taken over 11 times without progress"),
            "{why}"
        );
        for id in others {
            assert_eq!(output::<u32>(&engine.run(&id).await.unwrap()).await, 1);
        }
        assert!(run.resume().await.unwrap().changed());
        assert_eq!(output::<u32>(&run).await, 7);
    });
}

// B701
#[test]
fn a_run_that_is_too_large_for_a_node_is_paused_and_other_runs_go_on() {
    for_each_store_in_process(async |store| {
        let builder = |bytes_max| {
            let builder = store.engine().workflows(workflows()).evict_all();
            builder.settings(move |settings: &mut Settings| settings.journal_bytes_max = bytes_max)
        };
        let test = builder(100_000).start().await;
        let large = json(&"x".repeat(200_000));
        let run = test.start_by_name("waits", large).id("r").await.unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Paused).await;
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("journal_bytes_max"), "{why}");
        let refused = run.fork().await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::JournalTooLarge);
        let other = test
            .start_by_name("quick", json(&()))
            .id("q")
            .await
            .unwrap();
        assert_eq!(output::<u32>(&other).await, 1);
        test.shutdown().await;
        drop((run, other, test));
        let test = builder(1_000_000).start().await;
        let run = test.run("r").await.unwrap();
        assert!(run.resume().await.unwrap().changed());
        assert_eq!(output::<u32>(&run).await, 7);
    });
}

// B702
#[test]
fn a_run_with_a_long_journal_is_terminated_and_deleted_with_what_it_left_open() {
    for_each_store_in_process(async |store| {
        let TestStore::Directory(..) = store else {
            // The other stores return the whole journal as one page.
            return;
        };
        let test = store.engine().workflows(workflows()).start().await;
        let event = json(&"x".repeat(1_000_000));
        for (id, child) in [("a", "child-a"), ("b", "child-b")] {
            let run = test.start_by_name("family", json(child)).id(id);
            let run = run.await.unwrap();
            test.advance(secs(1)).await;
            for _ in 0..6 {
                run.send_by_name("large", event.clone(), None)
                    .await
                    .unwrap();
            }
            let done = match id {
                "a" => run.terminate().await.unwrap(),
                _ => run.delete().await.unwrap(),
            };
            assert!(done.changed());
            let child = test.run(child).await.unwrap();
            test.reach(&child, RunStatus::Cancelled).await;
        }
        let terminated = test.run("a").await.unwrap();
        assert_eq!(terminated.status().await.unwrap(), RunStatus::Terminated);
        assert!(test.run("b").await.is_err(), "it was deleted");
        drop(terminated);
        assert!(store.timers_left(test).await.is_empty());
        assert!(store.open().outbox(None, 10).await.unwrap().is_empty());
    });
}

// B702
#[test]
fn a_run_with_a_damaged_journal_is_terminated_and_deleted() {
    virtual_time(async {
        let store = Unreadable::new();
        let engine = open(&store, &Arc::new(VirtualRuntime::new(1))).await;
        let run = engine.start_by_name("family", json("child")).id("r");
        let run = run.await.unwrap();
        tokio::time::sleep(secs(1)).await;
        store.set("r", OnRead::Fail).await;
        assert!(run.terminate().await.unwrap().changed());
        reach(&run, RunStatus::Terminated).await;
        assert!(run.delete().await.unwrap().changed());
        assert!(engine.run("r").await.is_err());
    });
}
