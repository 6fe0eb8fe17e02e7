//! Control of runs that have children, or parents.

use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Payload, Result, RunStatus, Workflows, hours, minutes,
};

use crate::support::{Ping, failure, for_each_store, json, ok, output, ping, start};

/// Waits for a ping and returns its number.
async fn waits(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let Ping(n) = ctx.event::<Ping>().await?;
    Ok(n)
}

/// Starts a child and returns its result plus one.
async fn parent(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let before: u32 = ctx.step("before", || ok(1)).await?;
    let child = ctx.child_by_name("child", Payload::null()).id("c").await?;
    let n: u32 = child.decode()?;
    let after: u32 = ctx.step("after", || ok(n)).await?;
    Ok(before + after)
}

#[test]
fn a_terminated_parent_cancels_the_child_it_waited_for() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", parent)
                    .function("child", waits),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        run.terminate().await.unwrap();
        let child = test.run("c").await.unwrap();
        test.reach(&child, RunStatus::Cancelled).await;
    });
}

#[test]
fn a_terminated_child_fails_the_wait_of_its_parent() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", parent)
                    .function("child", waits),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        let child = test.run("c").await.unwrap();
        child.terminate().reason("enough").await.unwrap();
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::ChildFailed), "{failure}");
        assert!(failure.to_string().contains("enough"), "{failure}");
    });
}

#[test]
fn a_fork_waits_for_the_child_of_its_original_and_never_ends_it() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", parent)
                    .function("child", waits),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        let fork = run.fork().id("f").await.unwrap();
        let other = run.fork().id("g").await.unwrap();
        test.advance(minutes(1)).await;
        other.terminate().await.unwrap();
        test.advance(minutes(1)).await;
        let child = test.run("c").await.unwrap();
        assert_eq!(child.status().await.unwrap(), RunStatus::Waiting);
        ping(&child, 41).await;
        assert_eq!(output::<u32>(&run).await, 42);
        assert_eq!(output::<u32>(&fork).await, 42);
        assert_eq!(test.calls("before"), 1);
    });
}

#[test]
fn a_recovered_parent_takes_the_result_of_a_child_that_ended_meanwhile() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let child = async {
                let child = ctx.child_by_name("child", json(&())).id("c");
                let child = child.on_parent_close(everstep::journal::record::ParentClose::Abandon);
                child.await?.decode::<u32>().map_err(Error::from)
            };
            let step = async {
                ctx.step_with("gate", |_| async { Err::<(), _>(Error::fatal("shut")) })
                    .await
            };
            let (child, step) = tokio::join!(child, step);
            step?;
            child
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", move |ctx, ()| async move {
                tokio::select! {
                    biased;
                    done = code(ctx.clone(), ()) => done,
                    slept = ctx.sleep("limit", hours(1)) => { slept?; Err(Error::fatal("too slow")) }
                }
            })
            .function("child", waits))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "too slow");
        let child = test.run("c").await.unwrap();
        ping(&child, 7).await;
        assert_eq!(output::<u32>(&child).await, 7);
        test.restart().await;
        let run = test.run("r").await.unwrap();
        run.restart_from("gate").await.unwrap();
        test.advance(minutes(1)).await;
        let journal = test.journal(&run).await;
        assert_eq!(journal.count("child_finished"), 1, "{:?}", journal.lines());
    });
}

#[test]
fn a_parent_that_is_terminated_while_it_ends_still_notifies_its_children() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", |ctx: Ctx<AnyEvent>, (): ()| async move {
                        let undo = ctx
                            .step("a", || ok(1_u32))
                            .undo(|_| async { Err::<(), _>(Error::new("not yet")) })
                            .undo_retry(everstep::Retry::constant(1_000, hours(1)));
                        undo.await?;
                        ctx.child_by_name("child", Payload::null()).id("c").await?;
                        Ok(())
                    })
                    .function("child", waits),
            )
            .start()
            .await;
        let run = test
            .start_by_name("w", json(&()))
            .id("r")
            .deadline(minutes(10))
            .await
            .unwrap();
        test.advance(minutes(11)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::RollingBack);
        run.terminate().await.unwrap();
        let child = test.run("c").await.unwrap();
        test.reach(&child, RunStatus::Cancelled).await;
    });
}
