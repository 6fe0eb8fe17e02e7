//! Results of steps: a replay returns the same value, and values that cannot be recorded are
//! refused.

use std::collections::{BTreeMap, HashMap};

use everstep::inspect::StepStatus;
use everstep::journal::{Body, Timestamp};
use everstep::{Ctx, ErrorCode, Retry, RunStatus, Workflows, hours, minutes};
use serde::{Deserialize, Serialize};

use crate::support::{Seen, fail, failure, for_each_store, ok, output, restart, start};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Rich {
    when: Timestamp,
    bytes: Vec<u8>,
    by_name: BTreeMap<String, Option<i64>>,
    float: f64,
    big: u64,
    kind: Kind,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    Tuple(u8, char),
}

// B6
#[test]
fn rich_results_are_equal_live_and_replayed() {
    for_each_store(async |store| {
        let rich = Rich {
            when: Timestamp::from_millis(1_794_729_600_123),
            bytes: vec![0, 255, 7],
            by_name: [
                ("a".to_owned(), Some(i64::MIN)),
                ("ü\u{0}\"".to_owned(), None),
            ]
            .into(),
            float: 123_456_789.123_456_79,
            big: u64::MAX,
            kind: Kind::Tuple(3, '\u{10FFFF}'),
            text: "line\nbreak".to_owned(),
        };
        let seen = Seen::new();
        let (inside, given) = (seen.clone(), rich.clone());
        let code = move |ctx: Ctx, _: ()| {
            let (seen, given) = (inside.clone(), given.clone());
            async move {
                seen.add(ctx.step("rich", || ok(given.clone())).await?);
                seen.add(Rich {
                    kind: ctx.step("unit", || ok(Kind::Unit)).await?,
                    ..given.clone()
                });
                ctx.sleep("nap", hours(1)).await
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        output::<()>(&restart(&mut test).await).await;
        let unit = Rich {
            kind: Kind::Unit,
            ..rich.clone()
        };
        assert_eq!(seen.take(), [rich.clone(), unit.clone(), rich, unit]);
    });
}

// B6
#[test]
fn floats_are_restored_bit_for_bit() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let mut changed = Vec::new();
                    let floats: Vec<f64> =
                        (0..2_000).map(|_| f64::from_bits(ctx.random())).collect();
                    let floats: Vec<f64> = floats
                        .into_iter()
                        .filter(|float| float.is_finite())
                        .collect();
                    let back: Vec<f64> = ctx.step("floats", || ok(floats.clone())).await?;
                    for (there, back) in floats.iter().zip(back) {
                        if there.to_bits() != back.to_bits() {
                            changed.push(there.to_string());
                        }
                    }
                    Ok(changed)
                }),
            )
            .start()
            .await;
        assert_eq!(output::<Vec<String>>(&start(&test).await).await, [""; 0]);
    });
}

// B7
#[test]
fn an_unserialisable_result_fails_the_step_with_a_clear_error_and_no_retry() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let map: HashMap<Vec<u8>, u8> = ctx
                        .step("pairs", || ok(HashMap::from([(vec![1], 2)])))
                        .await?;
                    Ok(map.len())
                }),
            )
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(failure.is(ErrorCode::Unserializable), "{failure:?}");
        assert!(failure.message.contains("step `pairs`"), "{failure}");
        assert_eq!(test.calls("pairs"), 1);
    });
}

// B8
#[test]
fn an_oversized_result_fails_the_step_naming_it_and_the_limit() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    ctx.step("report", || ok("x".repeat(1024 * 1024))).await
                }),
            )
            .start()
            .await;
        let failure = failure(&start(&test).await).await;
        assert!(failure.is(ErrorCode::PayloadTooLarge), "{failure:?}");
        assert!(
            failure.message.contains("`report`") && failure.message.contains("1048576"),
            "{failure}"
        );
        assert_eq!(test.calls("report"), 1);
    });
}

// B22
#[test]
fn a_sensitive_result_is_marked_and_hidden_but_the_code_gets_it() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let secret: String = ctx
                        .step("secret", || ok("s3cret".to_owned()))
                        .sensitive()
                        .await?;
                    let caught = ctx
                        .try_step("broken", || fail("told openly"))
                        .with(|step| step.sensitive())
                        .await?;
                    Ok((secret.len(), caught.unwrap_err().error.message))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(
            output::<(usize, String)>(&run).await,
            (6, "told openly".to_owned())
        );
        let steps = run.inspect().await.unwrap().overview.steps;
        assert_eq!((steps[0].sensitive, &steps[0].result), (true, &None));
        assert_eq!(steps[1].error.as_ref().unwrap().message, "told openly");
        let marked =
            run.journal().await.unwrap().into_iter().any(
                |entry| matches!(entry.record.body, Body::StepCompleted(step) if step.sensitive),
            );
        assert!(
            marked,
            "readers of the journal can tell that it must be redacted"
        );
    });
}

// B3
#[test]
fn a_failed_attempt_records_its_error_and_no_output() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    ctx.step("a", || fail("no luck"))
                        .retry(Retry::constant(1, hours(1)))
                        .await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Retrying).await;
        let step = run.inspect().await.unwrap().overview.steps.remove(0);
        assert_eq!(
            (step.status, step.attempts, step.result),
            (StepStatus::Retrying, 1, None)
        );
        assert_eq!(step.error.unwrap().message, "no luck");
    });
}
