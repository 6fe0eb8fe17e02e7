//! Switches: the chosen branch is recorded before it runs, and replays use the recorded choice.

use std::collections::BTreeMap;

use everstep::journal::Body;
use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, ErrorCode, Result, RunStatus, Workflows, hours, minutes};
use serde::{Deserialize, Serialize};

use crate::support::{
    failure as failure_of, for_each_store, json, ok, output, restart, start_with,
};

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
                .case("card", |ctx, _| async move {
                    let paid: String = ctx.step("pay", || ok("by card".to_owned())).await?;
                    ctx.sleep("settle", hours(1)).await?;
                    Ok(paid)
                })
                .case("bank", |ctx, _| async move {
                    ctx.step("pay", || ok("by bank".to_owned())).await
                })
                .await?;
            Ok(done)
        })
    }
}

// B740
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

// B740
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

// B741
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
                            .case("card", |_, _| async { Ok("card") })
                            .default(|_, _| async { Ok("other") })
                            .await
                    }),
            )
            .start()
            .await;
        let run = start_with(&test, "cash").await;
        let failure = failure_of(&run).await;
        assert!(failure.is(ErrorCode::NoCase), "{failure}");
        let expected = r#"no case for its value "cash" and no default; it has `card`, `bank`"#;
        assert!(failure.message.contains(expected), "{failure}");
        let long = test.start_by_name("w", json(&"ü".repeat(200))).await;
        let failure = failure_of(&long.unwrap()).await;
        let expected = format!("value \"{}… and", "ü".repeat(63));
        assert!(failure.message.contains(&expected), "{failure}");
        let run = test.start_by_name("defaulted", json("cash")).await.unwrap();
        assert_eq!(output::<String>(&run).await, "other");
    });
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Payment {
    Cash,
    Card { number: String },
    Voucher(u32),
}

/// Chooses by values and by conditions, and returns the branch with the value that it received.
async fn pay(ctx: Ctx, (payment, limit): (Payment, u32)) -> Result<String> {
    let card = Payment::Card {
        number: "1".to_owned(),
    };
    let known = move |ctx: Ctx, payment: Payment| async move {
        ctx.sleep("wait", hours(1)).await?;
        Ok(format!("known {payment:?}"))
    };
    ctx.switch("pay", payment)
        .default(|_, payment| async move { Ok(format!("other {payment:?}")) })
        .case(Payment::Cash, known)
        .case(card, known)
        .when(
            "large",
            move |payment| matches!(payment, Payment::Voucher(sum) if *sum > limit),
            |ctx, payment| async move {
                ctx.sleep("wait", hours(1)).await?;
                Ok(format!("large {payment:?}"))
            },
        )
        .case(Payment::Voucher(200), known)
        .await
}

// B740
#[test]
fn a_branch_is_chosen_by_condition_or_value_and_receives_the_value() {
    for_each_store(async |store| {
        let card = |number: &str| Payment::Card {
            number: number.to_owned(),
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", pay))
            .start()
            .await;
        for (payment, branch, expected) in [
            (Payment::Cash, "Cash", "known Cash"),
            (
                card("1"),
                r#"{"Card":{"number":"1"}}"#,
                r#"known Card { number: "1" }"#,
            ),
            (card("2"), "default", r#"other Card { number: "2" }"#),
            // Of several cases that fit, the first counts.
            (Payment::Voucher(200), "large", "large Voucher(200)"),
            (Payment::Voucher(100), "default", "other Voucher(100)"),
        ] {
            let run = test.start_by_name("w", json(&(payment, 100))).await;
            let id = run.unwrap().id().clone();
            test.advance(minutes(1)).await;
            test.restart().await;
            let run = test.run(&id).await.unwrap();
            assert_eq!(output::<String>(&run).await, expected);
            let journal = run.journal().await.unwrap();
            let chosen = journal.iter().find_map(|entry| match &entry.record.body {
                Body::SwitchChosen(chosen) => Some(chosen.branch.as_str()),
                _ => None,
            });
            assert_eq!(chosen, Some(branch));
        }
    });
}

// B740
#[test]
fn a_run_keeps_the_recorded_branch_if_the_condition_changes() {
    for_each_store(async |store| {
        let with_limit = |limit: u32| move |ctx: Ctx, payment: Payment| pay(ctx, (payment, limit));
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", with_limit(100)))
            .start()
            .await;
        start_with(&test, &Payment::Voucher(200)).await;
        test.advance(minutes(1)).await;
        test.redeploy(|setup| setup.workflows(Workflows::new().function("w", with_limit(500))))
            .await;
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<String>(&run).await, "large Voucher(200)");
    });
}

#[test]
fn cases_of_one_name_and_values_that_are_no_json_are_refused() {
    for_each_store(async |store| {
        let setup = store.engine().workflows(
            Workflows::new()
                .function("twice", |ctx: Ctx, (): ()| async move {
                    ctx.switch("route", 3)
                        .case("3", |_, _| async { Ok(()) })
                        .case(3, |_, _| async { Ok(()) })
                        .await
                })
                .function("unwritable", |ctx: Ctx, (): ()| async move {
                    let no_json = BTreeMap::from([((), ())]);
                    ctx.switch("route", 3)
                        .case(no_json, |_, _| async { Ok(()) })
                        .await
                }),
        );
        let test = setup.start().await;
        let run = test.start_by_name("twice", json(&())).await.unwrap();
        let failure = failure_of(&run).await;
        assert!(failure.is(ErrorCode::InvalidOptions), "{failure}");
        assert!(failure.message.contains("two cases named `3`"), "{failure}");
        let run = test.start_by_name("unwritable", json(&())).await.unwrap();
        let failure = failure_of(&run).await;
        assert!(failure.is(ErrorCode::Unserializable), "{failure}");
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
                        .case("bank", |_, _| async { Ok(()) })
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
                        .case(value, |_, _| async { Ok(()) })
                        .await
                }),
            )
            .start()
            .await;
        let run = start_with(&test, "rollback:x").await;
        assert!(failure_of(&run).await.is(ErrorCode::InvalidName));
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
