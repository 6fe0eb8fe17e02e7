//! `ctx.removed`: code without an operation still matches the journals of runs that called it.

use std::ops::ControlFlow;

use everstep::journal::RecordNumber;
use everstep::journal::record::ParentClose;
use everstep::operation::{Received, RemovedKind};
use everstep::schemars::{self, JsonSchema};
use everstep::testing::TestEngineBuilder;
use everstep::{
    AnyEvent, Ctx, Event, Payload, Request, Result, Rpc, RunStatus, Workflows, hours, minutes,
};
use serde::{Deserialize, Serialize};

use crate::support::{Ping, Seen, for_each_store, json, ok, output, ping, start};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Query;
impl Event for Query {
    const NAME: &'static str = "query";
}
impl Request for Query {
    type Reply = u32;
}

#[derive(Serialize, JsonSchema)]
struct Ask;
impl Rpc for Ask {
    const METHOD: &'static str = "old";
    type Answer = u32;
}

const KINDS: [RemovedKind; 17] = [
    RemovedKind::Step,
    RemovedKind::Sleep,
    RemovedKind::Event,
    RemovedKind::Rpc,
    RemovedKind::Loop,
    RemovedKind::Join,
    RemovedKind::Race,
    RemovedKind::Switch,
    RemovedKind::Child,
    RemovedKind::Send,
    RemovedKind::Reply,
    RemovedKind::Note,
    RemovedKind::Row,
    RemovedKind::Emit,
    RemovedKind::Attribute,
    RemovedKind::Version,
    RemovedKind::NoReturn,
];

/// Kinds that have no name, and a version, whose location differs from those of the others.
const WITHOUT_NAME: [RemovedKind; 8] = [
    RemovedKind::Send,
    RemovedKind::Reply,
    RemovedKind::Note,
    RemovedKind::Row,
    RemovedKind::Emit,
    RemovedKind::Attribute,
    RemovedKind::NoReturn,
    RemovedKind::Version,
];

fn received(ctx: &Ctx<AnyEvent>) -> Received<Query> {
    Received {
        event: Query,
        sent_at: ctx.now(),
        record: RecordNumber(0),
    }
}

/// The operation that will be removed. It ends after an hour and a ping at the latest.
async fn old(ctx: &Ctx<AnyEvent>, kind: RemovedKind) -> Result<()> {
    match kind {
        RemovedKind::Step => ctx.step("old", || ok(())).await?,
        RemovedKind::Sleep => ctx.sleep("old", hours(1)).await?,
        RemovedKind::Event => {
            ctx.event::<Ping>().id("old").await?;
        }
        RemovedKind::Rpc => {
            ctx.rpc(Ask).timeout(hours(1)).await?;
        }
        RemovedKind::Loop => {
            let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                ctx.step("in", || ok(n)).await?;
                ctx.sleep("in", minutes(5)).await?;
                if n == 9 {
                    ctx.event::<Ping>().await?;
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(n + 1))
            };
            ctx.repeat("old", 0, body).keep(1).await?;
        }
        RemovedKind::Join => {
            let nap = |ctx: Ctx<AnyEvent>| async move { ctx.sleep("in", hours(1)).await };
            let got = |ctx: Ctx<AnyEvent>| async move { ctx.event::<Ping>().id("in").await };
            ctx.join("old")
                .branch("nap", nap)
                .branch("got", got)
                .await?;
        }
        RemovedKind::Race => {
            let nap = |ctx: Ctx<AnyEvent>| async move { ctx.sleep("in", hours(1)).await };
            let step = |ctx: Ctx<AnyEvent>| async move {
                ctx.step("in", || ok(())).await?;
                ctx.sleep("more", hours(2)).await
            };
            ctx.race("old")
                .branch("nap", nap)
                .branch("step", step)
                .await?;
        }
        RemovedKind::Switch => {
            let nap = |ctx: Ctx<AnyEvent>, _| async move {
                ctx.step("in", || ok(())).await?;
                ctx.sleep("in", hours(1)).await
            };
            ctx.switch("old", "x").case("x", nap).await?;
        }
        RemovedKind::Child => {
            let child = ctx.child_by_name("nap", Payload::null()).id("child");
            child.name("old").timeout(hours(20)).await?;
        }
        RemovedKind::Send => ctx.send_by_name("nobody", "hello", Payload::null())?,
        RemovedKind::Reply => ctx.reply(&received(ctx), &1)?,
        RemovedKind::Note => ctx.note("old"),
        RemovedKind::Row => ctx.set_row("rows", "old", &1)?,
        RemovedKind::Emit => ctx.emit("old", &1)?,
        RemovedKind::Attribute => ctx.set_attribute("old", 1)?,
        RemovedKind::Version => {
            ctx.version("old", 2)?;
        }
        RemovedKind::NoReturn => ctx.no_return(),
    }
    Ok(())
}

/// Before: two operations beside each other, then an event. After: without the first.
async fn code(
    ctx: Ctx<AnyEvent>,
    kind: RemovedKind,
    is_removed: Option<RemovedKind>,
) -> Result<u32> {
    let first = async {
        match is_removed {
            Some(kind) => ctx.removed("old", kind).await?,
            None => old(&ctx, kind).await?,
        }
        ctx.step("follows", || ok(1)).await
    };
    let beside = async {
        ctx.step("beside", || ok(1)).await?;
        ctx.sleep("beside", minutes(30)).await?;
        ctx.step("later", || ok(1)).await
    };
    let (a, b) = tokio::try_join!(first, beside)?;
    let last = ctx.event::<Ping>().id("last").await?;
    Ok(a + b + last.0)
}

fn register(
    setup: TestEngineBuilder,
    kind: RemovedKind,
    is_removed: Option<RemovedKind>,
) -> TestEngineBuilder {
    setup.workflows(
        Workflows::new()
            .function("nap", |ctx: Ctx<AnyEvent>, (): ()| async move {
                ctx.sleep("nap", hours(1)).await
            })
            .function("w", move |ctx, (): ()| code(ctx, kind, is_removed)),
    )
}

// B179
#[test]
fn a_run_that_is_past_a_removed_operation_skips_it() {
    for kind in KINDS {
        for_each_store(async |store| {
            let mut test = register(store.engine(), kind, None).start().await;
            let run = start(&test).await;
            test.advance(hours(2)).await;
            if matches!(
                kind,
                RemovedKind::Event | RemovedKind::Loop | RemovedKind::Join
            ) {
                ping(&run, 5).await;
            }
            test.advance(hours(2)).await;
            test.reach(&run, RunStatus::Waiting).await;
            let before = run.journal().await.unwrap();
            test.redeploy(|setup| register(setup, kind, Some(kind)))
                .await;
            let run = test.run("r").await.unwrap();
            ping(&run, 7).await;
            assert_eq!(output::<u32>(&run).await, 9, "{kind}");
            let journal = run.journal().await.unwrap();
            assert_eq!(journal[..before.len()], before);
            assert_eq!(test.journal(&run).await.count("removed"), 0, "{kind}");
            assert_eq!((test.calls("follows"), test.calls("later")), (1, 1));
        });
    }
}

// B179
#[test]
fn a_run_inside_a_removed_operation_ends_it_and_continues() {
    for kind in [
        RemovedKind::Sleep,
        RemovedKind::Event,
        RemovedKind::Rpc,
        RemovedKind::Loop,
        RemovedKind::Join,
        RemovedKind::Race,
        RemovedKind::Switch,
        RemovedKind::Child,
    ] {
        for_each_store(async |store| {
            let mut test = register(store.engine(), kind, None).start().await;
            start(&test).await;
            test.advance(minutes(12)).await;
            test.redeploy(|setup| register(setup, kind, Some(kind)))
                .await;
            // A sleeping run is not notified of new code; it executes it when the other sleep wakes
            // it.
            test.advance(minutes(20)).await;
            assert_eq!(test.calls("follows"), 1, "{kind}");
            let run = test.run("r").await.unwrap();
            assert!(run.inspect().await.unwrap().overview.rpcs.is_empty());
            drop(run);
            test.restart().await;
            test.advance(hours(3)).await;
            let run = test.run("r").await.unwrap();
            ping(&run, 7).await;
            assert_eq!(output::<u32>(&run).await, 9, "{kind}");
            assert_eq!(test.journal(&run).await.count("removed"), 1, "{kind}");
            assert_eq!((test.calls("follows"), test.calls("later")), (1, 1));
            drop(run);
            assert_eq!(store.timers_left(test).await, []);
        });
    }
}

// B179
#[test]
fn a_new_run_records_a_mark_and_continues() {
    for kind in KINDS {
        for_each_store(async |store| {
            let mut test = register(store.engine(), kind, Some(kind)).start().await;
            start(&test).await;
            test.advance(hours(1)).await;
            test.restart().await;
            let run = test.run("r").await.unwrap();
            ping(&run, 7).await;
            assert_eq!(output::<u32>(&run).await, 9, "{kind}");
            assert_eq!(test.journal(&run).await.count("removed"), 1, "{kind}");
        });
    }
}

// B179
#[test]
fn another_kind_at_the_location_of_a_removed_operation_is_a_divergence() {
    for kind in KINDS {
        let named = [RemovedKind::Race, RemovedKind::Step];
        let others: &[RemovedKind] = match WITHOUT_NAME.contains(&kind) {
            true => &WITHOUT_NAME,
            false => &named,
        };
        let other = *others.iter().find(|other| **other != kind).unwrap();
        for_each_store(async |store| {
            let mut test = register(store.engine(), kind, None).start().await;
            start(&test).await;
            test.advance(hours(1)).await;
            test.redeploy(|setup| register(setup, kind, Some(other)))
                .await;
            let run = test.run("r").await.unwrap();
            ping(&run, 1).await;
            test.reach(&run, RunStatus::Diverged).await;
            let why = run.why().await.unwrap().to_string();
            assert!(why.contains("removed"), "{kind}: {why}");
        });
    }
}

// B179
#[test]
fn the_mark_of_a_removed_operation_keeps_its_kind() {
    for_each_store(async |store| {
        let removed = Some(RemovedKind::Sleep);
        let mut test = register(store.engine(), RemovedKind::Sleep, removed)
            .start()
            .await;
        let run = test.start_by_name("w", json(&())).id("r").await.unwrap();
        test.advance(minutes(1)).await;
        drop(run);
        test.redeploy(|setup| register(setup, RemovedKind::Sleep, Some(RemovedKind::Rpc)))
            .await;
        let run = test.run("r").await.unwrap();
        ping(&run, 1).await;
        test.reach(&run, RunStatus::Diverged).await;
    });
}

/// Races a sleep against a step inside a switch, or does nothing after the removal.
async fn given_up(ctx: Ctx<AnyEvent>, is_removed: bool) -> Result<u32> {
    if is_removed {
        ctx.removed("old", RemovedKind::Switch).await?;
    } else {
        let either = |ctx: Ctx<AnyEvent>, _| async move {
            tokio::select! {
                biased;
                quick = ctx.step("quick", || ok(())) => quick,
                slept = ctx.sleep("nap", hours(5)) => slept,
            }
        };
        ctx.switch("old", "x").case("x", either).await?;
    }
    let after = ctx.step("after", || ok(2)).await?;
    Ok(after + ctx.event::<Ping>().await?.0)
}

// B179
#[test]
fn operations_that_a_removed_operation_dropped_without_a_record_do_not_block_the_run() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", |ctx, (): ()| given_up(ctx, false)))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function("w", |ctx, (): ()| given_up(ctx, true)))
        })
        .await;
        let run = test.run("r").await.unwrap();
        ping(&run, 7).await;
        assert_eq!(output::<u32>(&run).await, 9);
        assert_eq!(test.calls("after"), 1);
    });
}

// B179
#[test]
fn a_child_whose_operation_was_removed_follows_its_close_policy() {
    for on_close in [ParentClose::Cancel, ParentClose::Abandon] {
        for_each_store(async |store| {
            let parent = move |is_removed: bool| {
                move |ctx: Ctx<AnyEvent>, (): ()| async move {
                    if is_removed {
                        ctx.removed("nap", RemovedKind::Child).await?;
                    } else {
                        let child = ctx.child_by_name("nap", Payload::null()).id("child");
                        child.on_parent_close(on_close).await?;
                    }
                    ok(1).await
                }
            };
            let nap = |ctx: Ctx<AnyEvent>, (): ()| async move { ctx.sleep("nap", hours(1)).await };
            let setup = store
                .engine()
                .workflows(Workflows::new().function("nap", nap));
            let mut test = setup
                .workflows(Workflows::new().function("w", parent(false)))
                .start()
                .await;
            let run = start(&test).await;
            test.reach(&run, RunStatus::Waiting).await;
            drop(run);
            test.redeploy(|setup| {
                setup.workflows(
                    Workflows::new()
                        .function("nap", nap)
                        .function("w", parent(true)),
                )
            })
            .await;
            let run = test.run("r").await.unwrap();
            // A waiting run is not notified of new code.
            run.pause().await.unwrap();
            run.resume().await.unwrap();
            assert_eq!(output::<u32>(&run).await, 1);
            test.advance(minutes(1)).await;
            let child = test.run("child").await.unwrap().status().await.unwrap();
            let expected = match on_close {
                ParentClose::Abandon => RunStatus::Sleeping,
                ParentClose::Cancel | ParentClose::Terminate => RunStatus::Cancelled,
            };
            assert_eq!(child, expected);
        });
    }
}

// B179
#[test]
fn a_run_that_has_passed_a_removed_point_of_no_return_stays_past_it() {
    for_each_store(async |store| {
        let undone: Seen<()> = Seen::new();
        let code = |is_removed: bool| {
            let undone = undone.clone();
            move |ctx: Ctx<AnyEvent>, (): ()| {
                let undone = undone.clone();
                async move {
                    let undo = move |()| {
                        undone.add(());
                        ok(())
                    };
                    ctx.step("hold", || ok(())).undo(undo).await?;
                    match is_removed {
                        true => ctx.removed("hold", RemovedKind::NoReturn).await?,
                        false => ctx.no_return(),
                    }
                    ctx.event::<Ping>().await
                }
            }
        };
        let setup = store.engine();
        let setup = setup.workflows(Workflows::new().function("w", code(false)));
        let mut test = setup.start().await;
        start(&test).await;
        test.advance(minutes(1)).await;
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", code(true))))
            .await;
        let run = test.run("r").await.unwrap();
        run.cancel().await.unwrap();
        test.reach(&run, RunStatus::Cancelled).await;
        assert_eq!(undone.take(), []);
    });
}
