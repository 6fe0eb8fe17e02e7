//! Failure hooks: each failure is reported once, after it is durable, and a hook that panics has no
//! effect.

use everstep::journal::FailureEvent;
use everstep::journal::record::FailureOutcome;
use everstep::{Ctx, Error, Retry, Workflows, hours, minutes, secs};

use crate::support::{Seen, fail, failure, for_each_store, ok, output, restart, start};

fn line(event: &FailureEvent) -> String {
    match event {
        FailureEvent::Step {
            step,
            attempt,
            outcome,
            retries_left,
            retry_at,
            at,
            ..
        } => {
            let delay = retry_at.map(|retry_at| at.until(retry_at).as_secs());
            format!("{step} attempt {attempt} {outcome:?} {retries_left} left, again in {delay:?}")
        }
        FailureEvent::Run { error, .. } => format!("run: {}", error.message),
        other => format!("{other:?}"),
    }
}

// B43, B44
#[test]
fn a_failed_attempt_is_reported_once_with_its_outcome() {
    for_each_store(async |store| {
        let reports = Seen::new();
        let witness = reports.clone();
        let mut test = store
            .engine()
            .on_failure(move |event| witness.add(line(event)))
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    let tried = ctx
                        .try_step("s", || fail("no"))
                        .with(|step| step.retry(Retry::exponential(2, secs(1))))
                        .await?;
                    assert_eq!(tried.unwrap_err().outcome, FailureOutcome::Exhausted);
                    ctx.sleep("nap", hours(1)).await?;
                    Ok(())
                }),
            )
            .start()
            .await;
        start(&test).await;
        test.advance(minutes(1)).await;
        let run = restart(&mut test).await;
        output::<()>(&run).await;
        assert_eq!(
            reports.take(),
            [
                "s:0 attempt 1 Retrying 1 left, again in Some(1)",
                "s:0 attempt 2 Retrying 0 left, again in Some(2)",
                "s:0 attempt 3 Exhausted 0 left, again in None",
            ]
        );
    });
}

// B45
#[test]
fn a_failure_outside_a_step_is_reported_as_a_failed_run() {
    for_each_store(async |store| {
        let reports = Seen::new();
        let witness = reports.clone();
        let test = store
            .engine()
            .on_failure(move |event| witness.add(line(event)))
            .workflows(Workflows::new().function("w", |_: Ctx, _: ()| async {
                Err::<(), _>(Error::fatal("nothing to do"))
            }))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        test.advance(secs(1)).await;
        assert_eq!(reports.take(), ["run: nothing to do"]);
    });
}

// B46, B858
#[test]
fn a_panicking_hook_has_no_effect_and_receives_the_next_failure() {
    for_each_store(async |store| {
        let reports = Seen::new();
        let witness = reports.clone();
        let test = store
            .engine()
            .on_failure(move |event| {
                witness.add(line(event));
                panic!("on purpose");
            })
            .workflows(
                Workflows::new().function("w", |ctx: Ctx, _: ()| async move {
                    for _ in 0..2 {
                        let step = ctx.step("s", || fail("no")).retry(Retry::none());
                        step.best_effort().await?;
                    }
                    ctx.step("t", || ok(7)).await
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 7);
        test.advance(secs(1)).await;
        assert_eq!(reports.take().len(), 2);
    });
}
