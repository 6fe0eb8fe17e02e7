//! Runs that reuse the id of a deleted run share nothing with it: their messages arrive, and they
//! have their own children.

use everstep::journal::record::ParentClose;
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, Event, Payload, Result, RunHandle, RunStatus, Workflows, minutes, secs,
};

use crate::support::{Ping, TestStore, for_each_store, json, output, ping};

/// Returns the received numbers after it receives 0.
async fn collects(ctx: Ctx<AnyEvent>, (): ()) -> Result<Vec<u32>> {
    let mut sent = Vec::new();
    loop {
        match ctx.event::<Ping>().await?.0 {
            0 => return Ok(sent),
            number => sent.push(number),
        }
    }
}

async fn sends(ctx: Ctx<AnyEvent>, number: u32) -> Result<()> {
    ctx.sleep("first", secs(1)).await?;
    ctx.send_by_name("sink", Ping::NAME, json(&Ping(number)))
}

async fn doubles(ctx: Ctx<AnyEvent>, number: u32) -> Result<u32> {
    ctx.sleep("think", minutes(1)).await?;
    Ok(number * 2)
}

async fn delegates(ctx: Ctx<AnyEvent>, number: u32) -> Result<Payload> {
    ctx.child_by_name("doubles", json(&number))
        .on_parent_close(ParentClose::Abandon)
        .await
}

/// Starts the child `mine`, which may be abandoned.
async fn has_mine(ctx: Ctx<AnyEvent>, on_close: ParentClose) -> Result<Payload> {
    ctx.child_by_name("doubles", json(&4))
        .id("mine")
        .on_parent_close(on_close)
        .await
}

async fn engine(store: &TestStore) -> TestEngine {
    let builder = store.engine().workflows(
        Workflows::new()
            .function("sink", collects)
            .function("doubles", doubles)
            .function("sends", sends)
            .function("delegates", delegates)
            .function("mine", has_mine),
    );
    builder.start().await
}

async fn begin(test: &TestEngine, workflow: &str, number: u32) -> RunHandle {
    let start = test.start_by_name(workflow, json(&number)).id("r");
    let run = start.await.unwrap();
    assert!(run.created());
    run
}

/// Returns the numbers that the sink received.
async fn collected(sink: &RunHandle) -> Vec<u32> {
    ping(sink, 0).await;
    output(sink).await
}

// B153
#[test]
fn events_of_a_run_with_a_reused_id_are_not_duplicates() {
    for_each_store(async |store| {
        let test = engine(store).await;
        let sink = test.start_by_name("sink", json(&())).id("sink");
        let sink = sink.await.unwrap();
        for number in [1, 2] {
            let run = begin(&test, "sends", number).await;
            run.wait_json().await.unwrap();
            test.advance(secs(1)).await;
            run.delete().await.unwrap();
        }
        assert_eq!(collected(&sink).await, [1, 2]);
    });
}

// B151, B153
#[test]
fn a_fork_with_the_id_of_a_deleted_run_sends_its_own_events() {
    for_each_store(async |store| {
        let test = engine(store).await;
        let sink = test.start_by_name("sink", json(&())).id("sink");
        let sink = sink.await.unwrap();
        let run = begin(&test, "sends", 7).await;
        run.wait_json().await.unwrap();
        for _ in 0..2 {
            let fork = run.fork().at("__sent").id("fork").await.unwrap();
            fork.wait_json().await.unwrap();
            test.advance(secs(1)).await;
            fork.delete().await.unwrap();
        }
        assert_eq!(collected(&sink).await, [7, 7, 7]);
    });
}

// B153, B166
#[test]
fn a_run_with_a_reused_id_starts_its_own_children() {
    for_each_store(async |store| {
        let test = engine(store).await;
        let first = begin(&test, "delegates", 10).await;
        test.advance(secs(10)).await;
        first.delete().await.unwrap();
        let second = begin(&test, "delegates", 5).await;
        assert_eq!(output::<u32>(&second).await, 10);
        let children = test.list().workflow("doubles").await.unwrap().runs;
        assert_eq!(children.len(), 2);
    });
}

// B153, B167
#[test]
fn a_child_of_a_deleted_run_with_the_same_id_is_awaited_and_not_ended() {
    for_each_store(async |store| {
        let test = engine(store).await;
        let start = |on_close: ParentClose| {
            let start = test.start_by_name("mine", json(&on_close));
            start.id("r").into_future()
        };
        let first = start(ParentClose::Abandon).await.unwrap();
        test.advance(secs(10)).await;
        first.delete().await.unwrap();

        let second = start(ParentClose::Terminate).await.unwrap();
        test.advance(secs(10)).await;
        second.terminate().await.unwrap();
        test.advance(secs(1)).await;
        let child = test.run("mine").await.unwrap();
        assert_eq!(child.status().await.unwrap(), RunStatus::Sleeping);
        second.delete().await.unwrap();

        let third = start(ParentClose::Terminate).await.unwrap();
        assert_eq!(output::<u32>(&third).await, 8);
        let journal = test.journal(&third).await;
        journal.assert_kinds(&["created", "child_started", "child_finished", "completed"]);
    });
}
