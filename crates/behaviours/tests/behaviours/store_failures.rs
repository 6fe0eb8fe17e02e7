//! A store that fails: no request waits forever, runs continue when it recovers, and the engine can
//! always be shut down.

mod damaged_runs;
mod failing;
mod lost_answers;

use std::sync::Arc;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, ErrorCode, Workflows, hours, millis, minutes, secs};
use everstep_store::{MemoryStore, StoreError};
use futures_util::future::join;

use crate::support::{Ping, Seen, json, ok, output, ping};
use failing::Failing;

fn unavailable() -> Option<StoreError> {
    Some(StoreError::Unavailable {
        detail: "the test says so".to_owned(),
    })
}

fn poisoned() -> Option<StoreError> {
    Some(StoreError::Poisoned {
        detail: "the test says so".to_owned(),
    })
}

fn memory() -> (Arc<Failing>, Arc<VirtualRuntime>) {
    let runtime = Arc::new(VirtualRuntime::new(1));
    (Failing::new(MemoryStore::new(runtime.clone())), runtime)
}

/// Five steps of a minute each.
async fn steps(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<u32> {
    let mut sum = 0;
    for _ in 0..5 {
        let work = || async {
            tokio::time::sleep(minutes(1)).await;
            ok(1_u32).await
        };
        sum += ctx.step("a", work).await?;
    }
    Ok(sum)
}

#[test]
fn a_run_continues_after_a_long_outage_of_the_store() {
    virtual_time(async {
        let (store, runtime) = memory();
        let engine = Engine::on_store(store.clone()).runtime(runtime);
        let engine = engine
            .workflows(Workflows::new().function("w", steps))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        tokio::time::sleep(secs(90)).await;
        store.fail_commits(unavailable());
        tokio::time::sleep(minutes(10)).await;
        store.fail_commits(None);
        let result = run.wait_json_within(minutes(10)).await.unwrap();
        assert_eq!(result.decode::<u32>().unwrap(), 5);
    });
}

#[test]
fn a_run_continues_after_its_journal_could_not_be_read() {
    virtual_time(async {
        let (store, runtime) = memory();
        let engine = Engine::on_store(store.clone()).runtime(runtime);
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let Ping(n) = ctx.event::<Ping>().await?;
            Ok::<_, everstep::Error>(n)
        };
        let engine = engine
            .workflows(Workflows::new().function("w", code))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        tokio::time::sleep(secs(1)).await;
        store.fail_reads(unavailable());
        ping(&run, 7).await;
        tokio::time::sleep(minutes(1)).await;
        store.fail_reads(None);
        let result = run.wait_json_within(minutes(5)).await.unwrap();
        assert_eq!(result.decode::<u32>().unwrap(), 7);
    });
}

#[test]
fn a_run_that_is_being_executed_is_not_reclaimed() {
    virtual_time(async {
        let (store, runtime) = memory();
        let seen = Seen::new();
        let inside = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, _: ()| {
            let seen = inside.clone();
            async move {
                let work = || async {
                    seen.add(());
                    tokio::time::sleep(hours(1)).await;
                    ok(1_u32).await
                };
                ctx.step("long", work).await
            }
        };
        let engine = Engine::on_store(store).runtime(runtime);
        let engine = engine
            .workflows(Workflows::new().function("w", code))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        assert_eq!(output::<u32>(&run).await, 1);
        assert_eq!(seen.take().len(), 1);
    });
}

#[test]
fn waiting_for_a_run_reports_a_permanent_failure_of_the_store() {
    virtual_time(async {
        let (store, runtime) = memory();
        let engine = Engine::on_store(store.clone()).runtime(runtime);
        let engine = engine
            .workflows(Workflows::new().function("w", steps))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        let mut records = run.records().await.unwrap();
        let fail = async {
            tokio::time::sleep(secs(90)).await;
            store.fail_commits(poisoned());
        };
        let tail = async {
            loop {
                match records.next().await {
                    Ok(record) => assert!(record.is_some()),
                    Err(error) => break error.code(),
                }
            }
        };
        let waits = join(run.wait_json_within(hours(1)), tail);
        let ((waited, tailed), ()) = join(waits, fail).await;
        assert_eq!(waited.unwrap_err().code(), ErrorCode::StorePoisoned);
        assert_eq!(tailed, ErrorCode::StorePoisoned);
        let again = run.wait_json_within(hours(1)).await;
        assert_eq!(again.unwrap_err().code(), ErrorCode::StorePoisoned);
        engine.shutdown().await;
    });
}

// B802
#[test]
fn a_program_learns_that_its_store_accepts_no_more_writes_and_continues_on_it_reopened() {
    virtual_time(async {
        let (store, runtime) = memory();
        let open = async || {
            let engine = Engine::on_store(store.clone()).runtime(runtime.clone());
            let engine = engine.workflows(Workflows::new().function("w", steps));
            engine.start().await.unwrap()
        };
        let engine = open().await;
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        store.fail_commits(unavailable());
        let outage = tokio::time::timeout(secs(5), engine.store_ended()).await;
        assert!(outage.is_err(), "an outage may end");
        store.fail_commits(poisoned());
        assert_eq!(engine.store_ended().await.code(), ErrorCode::StorePoisoned);
        let id = run.id().clone();
        engine.shutdown().await;
        store.fail_commits(None);
        let run = open().await.run(id).await.unwrap();
        let result = run.wait_json_within(minutes(10)).await.unwrap();
        assert_eq!(result.decode::<u32>().unwrap(), 5);
    });
}

#[test]
fn an_engine_that_cannot_be_opened_releases_its_directory() {
    use everstep_store_embedded::EmbeddedStore;

    virtual_time(async {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Arc::new(VirtualRuntime::new(1));
        let open = || EmbeddedStore::open(directory.path(), runtime.clone());
        let store = Failing::new(open().unwrap());
        store.fail_reads(unavailable());
        let engine = Engine::on_store(store).runtime(runtime.clone());
        let opened = engine
            .workflows(Workflows::new().function("w", steps))
            .start()
            .await;
        assert!(opened.is_err());
        open().unwrap();
    });
}

#[test]
fn shutdown_waits_for_the_end_of_the_engine() {
    virtual_time(async {
        let (store, runtime) = memory();
        let engine = Engine::on_store(store).runtime(runtime);
        let engine = engine
            .workflows(Workflows::new().function("w", steps))
            .start()
            .await
            .unwrap();
        engine.start_by_name("w", json(&())).await.unwrap();
        tokio::time::sleep(secs(55)).await;
        let begin = tokio::time::Instant::now();
        let impatient = tokio::time::timeout(secs(1), engine.shutdown()).await;
        assert!(impatient.is_err(), "a step is running");
        let ended = async || {
            engine.shutdown().await;
            begin.elapsed()
        };
        let (first, second) = join(ended(), ended()).await;
        assert!(first >= secs(5) && first < secs(6), "{first:?}");
        assert!(second >= secs(5) && second < secs(6), "{second:?}");
    });
}

#[test]
fn an_engine_can_be_ended_while_timers_fire() {
    for round in 0..12 {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let in_time = runtime.block_on(async {
            let code =
                |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.sleep("nap", millis(60)).await };
            let engine = Engine::in_memory().workflows(Workflows::new().function("w", code));
            let engine = engine.start().await.unwrap();
            for _ in 0..400 {
                engine.start_by_name("w", json(&())).await.unwrap();
            }
            tokio::time::sleep(millis(35 + round * 2)).await;
            tokio::time::timeout(secs(30), engine.shutdown()).await
        });
        runtime.shutdown_background();
        assert!(in_time.is_ok(), "it hangs in round {round}");
    }
}
