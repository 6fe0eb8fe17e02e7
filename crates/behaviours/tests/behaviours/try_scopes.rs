//! Parts of a workflow whose failure is data: which failures, and which pass through.

use everstep::operation::Source;
use everstep::{Ctx, Error, ErrorCode, Retry, RunStatus, Workflows, hours, minutes};

use crate::support::{fail, failure, for_each_store, ok, output, restart, start};

// B53
#[test]
fn a_failure_names_its_origin_a_step_a_join_a_race_or_the_code() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let mut origins = Vec::new();
                    for part in ["step", "join", "race", "code"] {
                        let tried = ctx
                            .try_scope("part", |ctx| async move {
                                match part {
                                    "step" => {
                                        ctx.step("s", || fail("x")).retry(Retry::none()).await?;
                                    }
                                    "join" => {
                                        ctx.join("j")
                                            .branch("b", |_| async {
                                                Err::<(), _>(Error::fatal("x"))
                                            })
                                            .await?;
                                    }
                                    "race" => {
                                        ctx.race::<()>("r")
                                            .branch("b", |_| async { Err(Error::fatal("x")) })
                                            .await?;
                                    }
                                    _ => return Err(Error::fatal("x")),
                                }
                                Ok(())
                            })
                            .await?;
                        let error = tried.unwrap_err();
                        origins.push(match error.origin() {
                            Some(Source::Step(step)) => format!("step {}", step.location),
                            Some(Source::Branches(branches)) => {
                                format!("{:?} {}", branches.kind, branches.location)
                            }
                            _ => "code".to_owned(),
                        });
                    }
                    Ok(origins)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let expected = [
            "step part/s:0",
            "Join part:1/j:0",
            "Race part:2/r:0",
            "code",
        ];
        assert_eq!(output::<Vec<String>>(&run).await, expected);
    });
}

// B52
#[test]
fn an_error_that_asks_to_roll_back_passes_through() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let tried = ctx
                        .try_scope("part", |ctx| async move {
                            ctx.step("s", || async {
                                Err::<(), _>(Error::new("stop").rollback())
                            })
                            .await
                        })
                        .await;
                    tried?.ok();
                    Ok("swallowed")
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "stop");
    });
}

// B54
#[test]
fn sleeps_waits_and_eviction_pass_through() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .evict_all()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    ctx.try_scope("part", |ctx| async move {
                        let a: u32 = ctx.step("a", || ok(1)).await?;
                        ctx.sleep("nap", hours(1)).await?;
                        ctx.step("b", || ok(a + 1)).await
                    })
                    .await?
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 2);
        assert_eq!((test.calls("a"), test.calls("b")), (1, 1));
    });
}

// B4
#[test]
fn a_swallowed_failure_is_the_same_on_replay() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let tried = ctx
                        .try_scope("part", |ctx| async move {
                            ctx.step("s", || fail("once")).retry(Retry::none()).await
                        })
                        .await?;
                    let error = tried.unwrap_err();
                    ctx.sleep("nap", hours(1)).await?;
                    Ok((error.failure().code.clone(), error.to_string()))
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        let (code, message) = output::<(String, String)>(&run).await;
        assert_eq!(code, ErrorCode::StepExhausted.as_str());
        assert!(message.contains("once"));
        assert_eq!(test.calls("s"), 1);
    });
}
