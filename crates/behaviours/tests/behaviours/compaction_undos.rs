//! Loops and rollbacks: an iteration is dropped once nothing in it is left to undo, unless code in
//! a kept part of the journal waited for its undos.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep::journal::{Body, Entry};
use everstep::testing::replay_check_function;
use everstep::{Ctx, Error, Options, Result, Retry, Workflows, millis};
use everstep_model::Segment;

use crate::support::{failure, for_each_store, json, ok, output, start};

/// A step whose undo succeeds at the second attempt, after this delay.
async fn undone_after(ctx: &Ctx, ms: u64) -> Result<()> {
    let tried = Arc::new(AtomicBool::new(false));
    ctx.step("do", || ok(()))
        .undo(move |()| {
            let is_second = tried.swap(true, Ordering::SeqCst);
            async move { is_second.then_some(()).ok_or_else(|| Error::new("not yet")) }
        })
        .undo_retry(Retry::constant(1, millis(ms)))
        .await
}

fn until(times: u32, n: u32) -> ControlFlow<u32, u32> {
    if n + 1 < times {
        ControlFlow::Continue(n + 1)
    } else {
        ControlFlow::Break(times)
    }
}

/// Returns the iterations of a root loop of which the journal still has records.
fn kept(journal: &[Entry], name: &str) -> BTreeSet<u64> {
    let locations = journal
        .iter()
        .filter_map(|entry| entry.record.body.location());
    let iterations = locations.filter_map(|location| match location.scope.segments() {
        [Segment::Named(own, _), Segment::Iteration(n), ..] if own.as_str() == name => Some(*n),
        _ => None,
    });
    iterations.collect()
}

/// Both loops roll back the step of the first one, and the second continues when it is undone.
async fn two_ask(ctx: Ctx, (): ()) -> Result<u32> {
    let doing = ctx.repeat("doing", 0, |ctx: Ctx, n| async move {
        undone_after(&ctx, 20).await?;
        ctx.rollback().await?;
        Ok(until(3, n))
    });
    let asking = ctx.repeat("asking", 0, |ctx: Ctx, n| async move {
        ctx.sleep("nap", millis(12)).await?;
        ctx.rollback().await?;
        ctx.step("after", || ok(())).await?;
        Ok(until(2, n))
    });
    let (done, _) = tokio::try_join!(doing.keep(0), asking.keep(5))?;
    Ok(done)
}

// B105
#[test]
fn an_iteration_is_kept_as_long_as_another_one_that_awaited_its_undo() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_ask))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        let journal = run.journal().await.unwrap();
        replay_check_function("w", two_ask, journal).unwrap();
    });
}

/// Abandons a rollback before the undo that it waits for has completed.
async fn gives_up(ctx: Ctx, (): ()) -> Result<String> {
    let warming = ctx.repeat("warming", 0, |ctx: Ctx, n| async move {
        ctx.step("up", || ok(())).await?;
        Ok(until(3, n))
    });
    // From here on iterations are missing.
    warming.keep(0).await?;
    let doing = ctx.repeat("doing", 0, |ctx: Ctx, n| async move {
        if n == 0 {
            undone_after(&ctx, 20).await?;
        }
        ctx.sleep("rest", millis(40)).await?;
        Ok(until(3, n))
    });
    let asking = async {
        ctx.sleep("nap", millis(2)).await?;
        let race = ctx
            .race("patience")
            .branch("rollback", |ctx: Ctx| async move { ctx.rollback().await })
            .branch("time", |ctx: Ctx| async move {
                ctx.sleep("short", millis(5)).await
            });
        race.await.map(|won| won.winner)
    };
    let (_, winner) = tokio::try_join!(doing.keep(0), asking)?;
    Ok(winner)
}

// B105
#[test]
fn an_iteration_whose_undo_was_awaited_and_failed_is_kept() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", gives_up))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<String>(&run).await, "time");
        let journal = run.journal().await.unwrap();
        let is_undone = |entry: &Entry| matches!(entry.record.body, Body::UndoCompleted(_));
        assert!(journal.iter().any(is_undone));
        replay_check_function("w", gives_up, journal).unwrap();
    });
}

/// Undoes the steps of inner iterations in the outer iteration.
async fn nested(ctx: Ctx, (): ()) -> Result<u32> {
    let outer = ctx.repeat("outer", 0, |ctx: Ctx, n| async move {
        let inner = ctx.repeat("inner", 0, |ctx: Ctx, n| async move {
            undone_after(&ctx, 1).await?;
            Ok(until(2, n))
        });
        inner.keep(0).await?;
        ctx.rollback().await?;
        Ok(until(6, n))
    });
    outer.keep(1).await
}

// B105
#[test]
fn an_iteration_is_dropped_with_those_inside_it_that_it_had_undone() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", nested))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 6);
        let journal = run.journal().await.unwrap();
        assert_eq!(kept(&journal, "outer"), BTreeSet::from([5]));
        replay_check_function("w", nested, journal).unwrap();
    });
}

/// Rolls back in an iteration that is dropped later, then sleeps and fails.
async fn fails_later(ctx: Ctx, (): ()) -> Result<u32> {
    let rolled = ctx.repeat("rolled", 0, |ctx: Ctx, n| async move {
        if n == 0 {
            let undo = |()| async { Ok::<_, Error>(()) };
            ctx.step("do", || ok(())).undo(undo).await?;
            ctx.rollback().await?;
        }
        ctx.step("next", || ok(())).await?;
        Ok(until(3, n))
    });
    rolled.keep(1).await?;
    ctx.sleep("rest", millis(10)).await?;
    Err(Error::new("too bad"))
}

// B105
#[test]
fn completed_undos_survive_the_iteration_of_their_step() {
    for_each_store(async |store| {
        for evicted in [false, true] {
            let options = Options::new().execution_retries(1);
            let mut engine =
                store
                    .engine()
                    .workflows(Workflows::new().function_with("w", options, fails_later));
            if evicted {
                engine = engine.evict_all();
            }
            let test = engine.start().await;
            let input = json(&());
            let run = test.start_by_name("w", input).id(format!("{evicted}"));
            let run = run.await.unwrap();
            failure(&run).await;
            let journal = run.journal().await.unwrap();
            assert_eq!(kept(&journal, "rolled"), BTreeSet::from([2]));
            // After a rollback there is no further pass.
            let last = journal.last().map(|last| &last.record.body);
            assert!(
                matches!(last, Some(Body::Failed(end)) if end.rolled_back),
                "evicted: {evicted}, {last:?}"
            );
            let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
            assert!(!journal.iter().any(is_retry), "evicted: {evicted}");
            test.shutdown().await;
        }
    });
}
