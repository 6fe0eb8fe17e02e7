//! Switches: the chosen branch is recorded before it runs, and replays use the recorded choice.

use everstep::{Ctx, ErrorCode, RunStatus, Workflows, hours, minutes};

use crate::support::{failure, for_each_store, json, ok, output, restart, start_with};

fn route(
    value: fn(&str) -> String,
) -> impl Fn(Ctx, String) -> futures_util::future::BoxFuture<'static, everstep::Result<String>>
+ Copy
+ Send
+ Sync {
    move |ctx, input| {
        Box::pin(async move {
            let done = ctx
                .switch("route", value(&input))
                .case("card", |ctx| async move {
                    let paid: String = ctx.step("pay", || ok("by card".to_owned())).await?;
                    ctx.sleep("settle", hours(1)).await?;
                    Ok(paid)
                })
                .case("bank", |ctx| async move {
                    ctx.step("pay", || ok("by bank".to_owned())).await
                })
                .await?;
            Ok(done)
        })
    }
}

#[test]
fn the_branch_of_the_value_runs_in_its_own_scope() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", route(str::to_owned)))
            .start()
            .await;
        let run = start_with(&test, "bank").await;
        assert_eq!(output::<String>(&run).await, "by bank");
        let lines = test.journal(&run).await.lines();
        let chosen = lines
            .iter()
            .position(|line| line == "switch_chosen route:0");
        let step = lines
            .iter()
            .position(|line| line == "step_started route/bank/pay:0");
        assert!(chosen.is_some() && chosen < step, "{lines:?}");
    });
}

#[test]
fn a_run_keeps_the_recorded_branch_if_the_value_changes() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", route(str::to_owned)))
            .start()
            .await;
        start_with(&test, "card").await;
        test.advance(minutes(1)).await;
        test.redeploy(|builder| {
            builder.workflows(Workflows::new().function("w", route(|_| "bank".to_owned())))
        })
        .await;
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<String>(&run).await, "by card");
    });
}

#[test]
fn a_value_without_a_case_needs_a_default() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", route(str::to_owned))
                    .function("defaulted", |ctx: Ctx, value: String| async move {
                        ctx.switch("route", value)
                            .case("card", |_| async { Ok("card") })
                            .default(|_| async { Ok("other") })
                            .await
                    }),
            )
            .start()
            .await;
        let run = start_with(&test, "cash").await;
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::NoCase), "{failure}");
        assert!(failure.message.contains("`card`, `bank`"), "{failure}");
        let run = test.start_by_name("defaulted", json("cash")).await.unwrap();
        assert_eq!(output::<String>(&run).await, "other");
    });
}

// B177
#[test]
fn a_recorded_branch_that_the_code_no_longer_offers_is_a_divergence() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", route(str::to_owned)))
            .start()
            .await;
        start_with(&test, "card").await;
        test.advance(minutes(1)).await;
        test.redeploy(|builder| {
            builder.workflows(Workflows::new().function(
                "w",
                |ctx: Ctx, value: String| async move {
                    ctx.switch("route", value)
                        .case("bank", |_| async { Ok(()) })
                        .await
                },
            ))
        })
        .await;
        test.advance(hours(2)).await;
        let run = test.run("r").await.unwrap();
        assert_eq!(run.status().await.unwrap(), RunStatus::Diverged);
        let why = run.why().await.unwrap().to_string();
        assert!(why.contains("chose `card`"), "{why}");
    });
}

// B12
#[test]
fn reserved_names_are_refused_for_cases_too() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, value: String| async move {
                    ctx.switch("route", "x")
                        .case(&value, |_| async { Ok(()) })
                        .await
                }),
            )
            .start()
            .await;
        let run = start_with(&test, "rollback:x").await;
        assert!(failure(&run).await.is(ErrorCode::InvalidName));
    });
}

// B60
#[test]
fn a_sleep_inside_a_branch_does_not_repeat_earlier_steps() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", route(str::to_owned)))
            .start()
            .await;
        start_with(&test, "card").await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<String>(&run).await, "by card");
        assert_eq!(test.calls("pay"), 1);
    });
}
