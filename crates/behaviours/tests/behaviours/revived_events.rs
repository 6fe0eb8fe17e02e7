//! Events that a run accepted and has not taken are in the inbox of its next generation.

use everstep::schemars::{self, JsonSchema};
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, ErrorCode, Event, Result, Retry, Rpc, RunHandle, RunStatus, Workflows, hours,
    minutes, secs,
};
use serde::Serialize;

use crate::sagas::done;
use crate::support::{
    Ping, Seen, TestStore, fail, failure, for_each_store, json, ok, output, ping, start,
};

/// Fails in a step until the step is mocked, and then waits for a ping that arrived before the
/// failure.
async fn waits_after_a_failure(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    done(&ctx, "a", &Seen::new()).await?;
    ctx.sleep("rest", minutes(10)).await?;
    let is_broken = ctx.metadata().generation.0 == 1;
    ctx.step("b", || async move {
        match is_broken {
            true => fail("broken").await,
            false => ok(1).await,
        }
    })
    .retry(Retry::none())
    .await?;
    let taken = ctx.event::<Ping>().timeout(hours(24)).await?;
    Ok(taken.map_or(0, |ping| ping.0))
}

async fn engine(store: &TestStore) -> TestEngine {
    let sends = |ctx: Ctx<AnyEvent>, (): ()| async move {
        ctx.send_by_name("r", Ping::NAME, json(&Ping(7)))?;
        Ok(())
    };
    let workflows = Workflows::new()
        .function("w", waits_after_a_failure)
        .function("sends", sends);
    store.engine().workflows(workflows).start().await
}

// B47, B722
#[test]
fn a_recovered_run_has_the_events_that_arrived_before_its_steps_were_undone() {
    for sent_by_a_run in [false, true] {
        for_each_store(async |store| {
            let test = engine(store).await;
            let run = start(&test).await;
            test.reach(&run, RunStatus::Sleeping).await;
            if sent_by_a_run {
                let sender = test.start_by_name("sends", json(&())).await.unwrap();
                sender.wait_json().await.unwrap();
            } else {
                ping(&run, 7).await;
            }
            assert_eq!(failure(&run).await.message, "broken");
            let journal = test.journal(&run).await;
            journal.assert_contains("undo_completed a:0");
            run.recover().await.unwrap();
            assert_eq!(output::<u32>(&run).await, 7);
        });
    }
}

// B722
#[test]
fn a_recovered_run_has_the_events_that_it_accepted_while_it_was_cancelling() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("slow", || async {
                tokio::time::sleep(minutes(10)).await;
                ok(1).await
            })
            .await?;
            Ok(ctx.event::<Ping>().await?.0)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        run.cancel().await.unwrap();
        ping(&run, 7).await;
        test.advance(minutes(10)).await;
        test.reach(&run, RunStatus::Cancelled).await;
        run.recover().await.unwrap();
        assert_eq!(output::<u32>(&run).await, 7);
    });
}

/// Sends itself a ping and rests before it takes it.
async fn sends_itself(ctx: Ctx<AnyEvent>, (): ()) -> Result<Vec<u32>> {
    ctx.step("first", || ok(1)).await?;
    ctx.send_by_name("r", Ping::NAME, json(&Ping(7)))?;
    ctx.sleep("rest", secs(10)).await?;
    let mut taken = vec![ctx.event::<Ping>().await?.0];
    ctx.sleep("linger", secs(10)).await?;
    while let Some(again) = ctx.try_event::<Ping>().await? {
        taken.push(again.0);
    }
    Ok(taken)
}

// B723
#[test]
fn a_restarted_run_has_each_event_that_it_sent_to_itself_once() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", sends_itself))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<Vec<u32>>(&run).await, [7]);
        // From before and after the message, and from copies of copies.
        for from in ["rest", "first", "rest", "rest", "linger", "first"] {
            run.restart_from(from).await.unwrap();
            assert_eq!(output::<Vec<u32>>(&run).await, [7], "{from}");
        }
    });
}

// B722
#[test]
fn a_restarted_run_has_later_events_that_no_wait_has_taken() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("first", || ok(1)).await?;
            let taken = ctx.event::<Ping>().await?.0;
            ctx.sleep("rest", minutes(10)).await?;
            Ok(taken)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Sleeping).await;
        ping(&run, 2).await;
        run.restart_from("first").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 2);
    });
}

#[derive(Serialize, JsonSchema)]
struct Approve;

impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = u32;
}

/// Waits in different ways, each of which an operator can make fail.
async fn waits(ctx: Ctx<AnyEvent>, how: String) -> Result<u32> {
    match how.as_str() {
        "event" => Ok(ctx.event::<Ping>().await?.0),
        "rpc" => ctx.rpc(Approve).await,
        _ => {
            ctx.sleep("nap", minutes(10)).await?;
            Ok(3)
        }
    }
}

async fn answer(test: &TestEngine, run: &RunHandle, how: &str) {
    match how {
        "rpc" => test.answer_next::<Approve>(run, &3).await,
        "sleep" => {}
        _ => ping(run, 3).await,
    }
}

// B724
#[test]
fn a_recovered_run_waits_again_where_an_operator_made_it_fail() {
    for (how, operation) in [
        ("event", "ping:0"),
        ("rpc", "approve:0"),
        ("sleep", "nap:0"),
    ] {
        for_each_store(async |store| {
            let test = store
                .engine()
                .workflows(Workflows::new().function("w", waits))
                .start()
                .await;
            let run = crate::support::start_with(&test, how).await;
            test.advance(secs(1)).await;
            run.fail_operation(operation, "no").await.unwrap();
            let failed = failure(&run).await;
            assert!(failed.is(ErrorCode::ForcedFailure), "{failed}");
            let overview = run.inspect().await.unwrap().overview;
            let causes: Vec<_> = overview.caused_by.iter().map(ToString::to_string).collect();
            assert_eq!(causes, [operation]);
            run.recover().await.unwrap();
            answer(&test, &run, how).await;
            assert_eq!(output::<u32>(&run).await, 3, "{how}");
        });
    }
}
