//! The whole engine: many workflows at a time, of strict steps that do nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use everstep::{AnyEvent, Ctx, Engine, EngineBuilder, Error, Payload, Workflows};
use everstep_store_postgres::{Options, PostgresStore};

use crate::{RESULT, RUNS};

/// The default number of steps of a run.
pub(crate) const STEPS_PER_RUN: u32 = 50;

pub(crate) async fn steps(url: &str, length: Duration, per_run: u32) -> u64 {
    let options = Options::new(url).unwrap().namespace("engine").unwrap();
    let store = PostgresStore::open(options).await.unwrap();
    steps_of(Engine::on_store(Arc::new(store)), length, per_run, || {}).await
}

/// The same on this engine, with steps that call `work`.
pub(crate) async fn steps_of(
    engine: EngineBuilder,
    length: Duration,
    per_run: u32,
    work: fn(),
) -> u64 {
    let done = Arc::new(AtomicU64::new(0));
    let counted = done.clone();
    let workflow = move |ctx: Ctx<AnyEvent>, (): ()| {
        let done = counted.clone();
        async move {
            for _ in 0..per_run {
                let charge = || async {
                    work();
                    Ok::<_, Error>(RESULT.to_owned())
                };
                ctx.step("charge", charge).await?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    };
    let engine = engine
        .workflows(Workflows::new().function("steps", workflow))
        .start()
        .await
        .unwrap();
    let begun = Instant::now();
    let starters = (0..RUNS).map(|_| {
        let engine = engine.clone();
        tokio::spawn(async move {
            while begun.elapsed() < length {
                let run = engine
                    .start_by_name("steps", Payload::null())
                    .await
                    .unwrap();
                run.wait_json().await.unwrap();
            }
        })
    });
    let starters: Vec<_> = starters.collect();
    for starter in starters {
        starter.await.unwrap();
    }
    let steps = done.load(Ordering::Relaxed);
    engine.shutdown().await;
    steps
}
