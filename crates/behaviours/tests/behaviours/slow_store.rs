//! A slow store: what an executor does while it waits for an answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, Result, RunHandle, Workflows, millis, secs};
use everstep_store::{
    Answer, BoxFuture, Call, Description, Intercept, LocalBus, MemoryStore, Store, StoreError,
};

use crate::support::{Ping, Seen, json, ok, ping};

/// Delays the results of reads, so that they are outdated, and yields before each commit.
struct Slow {
    inner: MemoryStore,
    answers_take: Duration,
    turns_before_commit: u32,
}

impl Intercept for Slow {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(self.inner.clone()))
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            if let Call::Commit { .. } = call {
                for _ in 0..self.turns_before_commit {
                    tokio::task::yield_now().await;
                }
            }
            let is_read = matches!(call, Call::Read { .. });
            let answer = call.perform(&self.inner).await;
            if is_read {
                tokio::time::sleep(self.answers_take).await;
            }
            answer
        })
    }
}

/// Found by the simulation.
#[test]
fn an_executor_that_gets_its_run_back_reads_on_before_it_begins_a_step() {
    virtual_time(async {
        let clock = Arc::new(VirtualRuntime::new(0));
        let (inner, bus) = (MemoryStore::new(clock), LocalBus::new());
        let seen: Seen<u64> = Seen::new();
        let node = async |n: u64, answers_take: Duration| {
            let store = Slow {
                inner: inner.clone(),
                answers_take,
                turns_before_commit: 0,
            };
            let seen = seen.clone();
            let work = move |ctx: Ctx<AnyEvent>, _: ()| {
                let seen = seen.clone();
                async move {
                    ctx.event::<Ping>().await?;
                    let work = || async {
                        seen.add(n);
                        tokio::time::sleep(millis(10)).await;
                        ok(n).await
                    };
                    let by = ctx.step("work", work).await?;
                    ctx.event::<Ping>().await?;
                    Ok(by)
                }
            };
            Engine::on_store(Arc::new(store))
                .bus(Arc::new(bus.clone()))
                .runtime(Arc::new(VirtualRuntime::new(n * 1_000)))
                .workflows(Workflows::new().function("w", work))
                .start()
                .await
                .unwrap()
        };
        let (slow, quick) = (node(1, millis(20)).await, node(2, Duration::ZERO).await);
        let here: RunHandle = slow.start_by_name("w", json(&())).id("r").await.unwrap();
        tokio::time::sleep(secs(1)).await;
        // Another node executes the step while this one, which keeps the run in memory, reads
        // slowly.
        let there = quick.run("r").await.unwrap();
        ping(&there, 1).await;
        tokio::time::sleep(millis(15)).await;
        ping(&here, 2).await;
        assert_eq!(here.wait_json().await.unwrap().as_str(), "2");
        assert_eq!(
            seen.take(),
            [2],
            "the step was done by the other node, and once"
        );
    });
}

/// Found by the simulation.
#[test]
fn a_step_that_lost_its_race_is_not_polled_again_and_again_while_the_winner_is_written() {
    virtual_time(async {
        let store = Slow {
            inner: MemoryStore::new(Arc::new(VirtualRuntime::new(0))),
            answers_take: Duration::ZERO,
            turns_before_commit: 500,
        };
        let polls = Arc::new(AtomicU32::new(0));
        let counter = polls.clone();
        let work = move |ctx: Ctx<AnyEvent>, _: ()| {
            let counter = counter.clone();
            let mut code = Box::pin(async move {
                let won = ctx
                    .race("r")
                    .branch("slow", |ctx| async move { ctx.step("s", || ok(1)).await })
                    .branch("quick", |_| async { Ok(2) })
                    .await?;
                Ok(won.value)
            });
            poll_fn(move |context| {
                counter.fetch_add(1, Ordering::Relaxed);
                code.as_mut().poll(context)
            })
        };
        let engine = Engine::on_store(Arc::new(store))
            .runtime(Arc::new(VirtualRuntime::new(1)))
            .workflows(Workflows::new().function("w", work))
            .start()
            .await
            .unwrap();
        let run = engine.start_by_name("w", json(&())).await.unwrap();
        assert_eq!(run.wait_json().await.unwrap().as_str(), "2");
        let polls = polls.load(Ordering::Relaxed);
        assert!(polls < 20, "the code was polled {polls} times");
    });
}
