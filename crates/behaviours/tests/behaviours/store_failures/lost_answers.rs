//! Commits whose responses are lost: they are sent again and take effect once, without waiting for
//! a sweep.

use std::sync::Arc;

use everstep::control::Sent;
use everstep::schemars::{self, JsonSchema};
use everstep::testing::{JournalView, VirtualRuntime, virtual_time};
use everstep::{AnyEvent, Ctx, Engine, Rpc, Workflows, minutes, secs};
use tokio::time::Instant;

use super::failing::Failing;
use super::memory;
use crate::support::{Ping, json, ok};

/// The number of sequences of lost answers that every test runs with.
const ROUNDS: u64 = 10;

#[derive(serde::Serialize, JsonSchema)]
struct Ask;

impl Rpc for Ask {
    type Answer = u32;
    const METHOD: &'static str = "ask";
}

async fn one_step(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<u32> {
    ctx.step("a", || ok(1)).await
}

async fn nap(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<u32> {
    ctx.sleep("nap", minutes(1)).await?;
    ctx.step("after", || ok(1)).await
}

async fn wait(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<u32> {
    let Ping(n) = ctx.event::<Ping>().await?;
    ctx.sleep("for another", secs(1)).await?;
    Ok(n)
}

async fn ask(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<u32> {
    ctx.rpc(Ask).await
}

/// Runs a test with an engine that has all workflows above and a store that works until a fault is
/// set.
fn each_round(test: impl AsyncFn(&Engine, &Failing, u64)) {
    for round in 1..=ROUNDS {
        virtual_time(async {
            let (store, runtime): (Arc<_>, Arc<VirtualRuntime>) = memory();
            let engine = Engine::on_store(store.clone()).runtime(runtime).workflows(
                Workflows::new()
                    .function("one step", one_step)
                    .function("nap", nap)
                    .function("wait", wait)
                    .function("ask", ask),
            );
            let engine = engine.start().await.unwrap();
            test(&engine, &store, round).await;
        });
    }
}

#[test]
fn a_start_creates_its_run_and_executes_it_at_once() {
    each_round(async |engine, store, round| {
        store.lose_answers(round);
        let begun = Instant::now();
        let run = engine.start_by_name("one step", json(&())).id("r");
        let run = run.await.unwrap();
        assert!(run.created(), "by this start, in round {round}");
        run.wait_json().await.unwrap();
        let took = begun.elapsed();
        assert!(took < secs(10), "no sweep was needed: {took:?}");
    });
}

#[test]
fn an_event_without_an_id_arrives_once() {
    each_round(async |engine, store, round| {
        let run = engine.start_by_name("wait", json(&())).await.unwrap();
        tokio::time::sleep(secs(1)).await;
        store.lose_answers(round);
        let begun = Instant::now();
        let sent = run.send_by_name("ping", json(&Ping(3)), None).await;
        assert!(matches!(sent, Ok(Sent::Accepted(_))), "{sent:?}");
        let result = run.wait_json().await.unwrap();
        assert_eq!(result.decode::<u32>().unwrap(), 3);
        assert!(begun.elapsed() < secs(15), "{:?}", begun.elapsed());
        let journal = JournalView::new(run.journal().await.unwrap());
        assert_eq!(journal.count("event"), 1);
    });
}

#[test]
fn a_timer_fires_once_and_its_run_continues() {
    each_round(async |engine, store, round| {
        let run = engine.start_by_name("nap", json(&())).await.unwrap();
        tokio::time::sleep(secs(1)).await;
        store.lose_answers(round);
        let begun = Instant::now();
        run.wait_json().await.unwrap();
        let late = begun.elapsed() - secs(59);
        assert!(late < secs(10), "no sweep was needed: {late:?}");
        let journal = JournalView::new(run.journal().await.unwrap());
        assert_eq!(journal.count("timer_fired"), 1);
    });
}

#[test]
fn an_answer_is_accepted_once() {
    each_round(async |engine, store, round| {
        let run = engine.start_by_name("ask", json(&())).await.unwrap();
        tokio::time::sleep(secs(1)).await;
        let open = run.inspect().await.unwrap().overview.rpcs.remove(0);
        store.lose_answers(round);
        run.answer_json(&open.rpc_id, json(&7)).await.unwrap();
        let result = run.wait_json_within(secs(10)).await.unwrap();
        assert_eq!(result.decode::<u32>().unwrap(), 7);
        let journal = JournalView::new(run.journal().await.unwrap());
        assert_eq!(journal.count("rpc_answered"), 1);
    });
}
