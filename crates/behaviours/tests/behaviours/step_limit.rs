//! The optional limit of steps per run.

use std::ops::ControlFlow;

use everstep::inspect::StepStatus;
use everstep::{AnyEvent, Ctx, Error, ErrorCode, Options, Result, RunStatus, Workflows, minutes};

use crate::sagas::done;
use crate::support::{
    Ping, Seen, failure, for_each_store, ok, output, ping, restart, start, start_with,
};

async fn counts(ctx: Ctx<AnyEvent>, steps: u32) -> Result<u32> {
    let mut sum = 0;
    for n in 0..steps {
        sum += ctx.step("count", || ok(n)).await?;
        if n == 1 {
            ctx.sleep("nap", minutes(1)).await?;
        }
    }
    Ok(sum)
}

// B23
#[test]
fn as_many_steps_as_the_limit_allows_succeed_and_one_more_fails_the_run() {
    for_each_store(async |store| {
        let options = Options::new().steps_max(4);
        let setup = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, counts));
        let mut test = setup.start().await;
        let enough = start_with(&test, &4).await;
        assert_eq!(output::<u32>(&enough).await, 6);
        drop(enough);
        let input = everstep::Payload::from_value(&5).unwrap();
        test.start_by_name("w", input).id("more").await.unwrap();
        // Steps of an earlier process count too.
        test.advance(minutes(1) / 2).await;
        test.restart().await;
        let more = test.run("more").await.unwrap();
        let failure = failure(&more).await;
        assert_eq!(failure.code, ErrorCode::TooManySteps.as_str());
        assert!(failure.message.contains("4 steps"), "{failure:?}");
        let journal = test.journal(&more).await;
        journal.assert_steps(&[
            ("count:0", StepStatus::Completed, 1),
            ("count:1", StepStatus::Completed, 1),
            ("count:2", StepStatus::Completed, 1),
            ("count:3", StepStatus::Completed, 1),
            ("count:4", StepStatus::Failed, 1),
        ]);
    });
}

// B23
#[test]
fn there_is_no_limit_unless_one_is_set() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", counts))
            .start()
            .await;
        let run = start_with(&test, &1_100).await;
        assert_eq!(output::<u32>(&run).await, 1_100 * 1_099 / 2);
    });
}

// B23
#[test]
fn a_step_beyond_the_limit_rolls_back_and_cannot_be_caught() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let own = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                done(&ctx, "first", &seen).await?;
                let caught = ctx.try_step("second", || ok(1)).await?;
                Ok(caught.is_ok())
            }
        };
        let options = Options::new().steps_max(1);
        let setup = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code));
        let test = setup.start().await;
        let failure = failure(&start(&test).await).await;
        assert_eq!(failure.code, ErrorCode::TooManySteps.as_str());
        assert_eq!(seen.take(), ["undo first!"]);
        assert_eq!(test.calls("second"), 0);
    });
}

// B23
#[test]
fn a_loop_of_best_effort_steps_is_ended_by_the_limit_too() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            loop {
                let done: Option<i32> = ctx.step("again", || ok(1)).best_effort().await?;
                if done.is_none() {
                    return Ok(());
                }
            }
        };
        let options = Options::new().steps_max(3);
        let setup = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code));
        let test = setup.start().await;
        let failure = failure(&start(&test).await).await;
        assert_eq!(failure.code, ErrorCode::TooManySteps.as_str());
        assert_eq!(test.calls("again"), 3);
    });
}

// B23
#[test]
fn of_concurrent_steps_only_those_beyond_the_limit_fail() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let steps = (0..4_u32).map(|n| ctx.step("side", move || ok(n)));
            let done = futures_util::future::join_all(steps).await;
            let fits: Vec<bool> = done.iter().map(Result::is_ok).collect();
            Ok::<_, Error>(fits)
        };
        let options = Options::new().steps_max(2);
        let setup = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code));
        let test = setup.start().await;
        let fits: Vec<bool> = output(&start(&test).await).await;
        assert_eq!(fits, [true, true, false, false]);
    });
}

// B23
#[test]
fn iterations_that_have_ended_do_not_count() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            let body = |ctx: Ctx<AnyEvent>, n: u32| async move {
                ctx.step("in", || ok(n)).await?;
                ctx.step("in", || ok(n)).await?;
                if n == 20 {
                    ctx.event::<Ping>().await?;
                }
                Ok(match n {
                    40 => ControlFlow::Break(n),
                    n => ControlFlow::Continue(n + 1),
                })
            };
            let last = ctx.repeat("loop", 0, body).keep(3).await?;
            ctx.step("after", || ok(last)).await
        };
        let options = Options::new().steps_max(2);
        let setup = store
            .engine()
            .workflows(Workflows::new().function_with("w", options, code));
        let mut test = setup.start().await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        drop(run);
        let run = restart(&mut test).await;
        ping(&run, 1).await;
        assert_eq!(output::<u32>(&run).await, 40);
    });
}

#[test]
fn a_run_that_failed_at_its_step_limit_continues_with_a_higher_one() {
    for_each_store(async |store| {
        let limited = |max| Options::new().steps_max(max);
        let setup =
            store
                .engine()
                .workflows(Workflows::new().function_with("w", limited(3), counts));
        let mut test = setup.start().await;
        let run = start_with(&test, &5).await;
        failure(&run).await;
        drop(run);
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function_with("w", limited(5), counts))
        })
        .await;
        let run = test.run("r").await.unwrap();
        run.recover().await.unwrap();
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 10);
    });
}
