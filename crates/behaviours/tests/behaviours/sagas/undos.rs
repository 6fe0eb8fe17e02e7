//! The context of an undo, and its retries.

use super::*;
use everstep::Workflows;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Charge {
    id: u32,
}

// B131, B136, B205
#[test]
fn an_undo_sees_output_payload_failure_and_the_step_itself() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = seen.clone();
            async move {
                let key = seen.clone();
                ctx.step_with("charge", |step| {
                    let key = key.clone();
                    async move {
                        step.undo_with(&("account", 7))?;
                        key.add(step.idempotency_key());
                        if step.attempt == 1 {
                            return Err(Error::new("try again"));
                        }
                        Ok(Charge { id: 4 })
                    }
                })
                .undo_with(move |undo: Undo<Charge>| async move {
                    let payload: Option<(String, u32)> = undo.payload_as()?;
                    seen.add(undo.context.idempotency_key());
                    seen.add(undo.idempotency_key());
                    seen.add(format!(
                        "{:?} {payload:?} {} {} of {}, attempt {} of attempt {}",
                        undo.output.map(|charge| charge.id),
                        undo.failure.message,
                        undo.context.count,
                        undo.context.name,
                        undo.attempt,
                        undo.context.attempt,
                    ));
                    Ok::<_, Error>(())
                })
                .await?;
                Err::<(), _>(Error::fatal("no such address"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        failure(&run).await;
        let seen = undone.take();
        assert_eq!((&seen[0], &seen[0]), (&seen[1], &seen[2]));
        assert_ne!(seen[2], seen[3], "an undo has a key of its own");
        assert_eq!(
            seen[4],
            "Some(4) Some((\"account\", 7)) no such address 0 of charge, attempt 1 of attempt 2"
        );
        test.journal(&run).await.assert_lines(&[
            "created",
            "step_started charge:0",
            "step_failed charge:0",
            "timer_fired charge:0",
            "step_started charge:0",
            "step_completed charge:0",
            "undo_started charge:0",
            "undo_completed charge:0",
            "failed",
        ]);
    });
}

// B131
#[test]
fn an_undo_gets_empty_outputs_and_errors_without_a_message() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let undone = seen.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let (unit, none) = (seen.clone(), seen.clone());
            async move {
                ctx.step("unit", || ok(()))
                    .undo_with(move |undo: Undo<()>| async move {
                        unit.add(format!("{:?} {:?}", undo.output, undo.failure.message));
                        Ok::<_, Error>(())
                    })
                    .await?;
                ctx.step("none", || ok(None::<u32>))
                    .undo(move |output| async move {
                        none.add(format!("{output:?}"));
                        Ok::<_, Error>(())
                    })
                    .await?;
                Err::<(), _>(Error::fatal(""))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        failure(&start(&test).await).await;
        assert_eq!(undone.take(), ["None", "Some(()) \"\""]);
    });
}

// B135
#[test]
fn an_undo_is_retried_like_its_step_by_default() {
    for_each_store(async |store| {
        let code = move |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.step("inherits", || ok(1))
                .retry(Retry::constant(2, secs(10)))
                .undo(|_| fail("not now"))
                .await?;
            ctx.step("own", || ok(1))
                .retry(Retry::none())
                .undo(|_| fail("not now"))
                .undo_retry(Retry::constant(3, secs(1)))
                .await?;
            Err::<(), _>(Error::fatal("stop"))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .mock_step("rollback:own", Mock::fails(Error::new("busy")).times(3))
            .mock_step("rollback:own", Mock::returns(&()))
            .start()
            .await;
        let run = start(&test).await;
        let Err(WaitError::RollbackFailed { rollback_error, .. }) = run.wait_json().await else {
            panic!("its rollback did not fail");
        };
        assert_eq!(rollback_error.cause.unwrap().attempt, 3);
        assert_eq!(
            (
                test.calls("rollback:own"),
                test.calls("rollback:inherits:0")
            ),
            (4, 3)
        );
        let journal = test.journal(&run).await;
        let begin = journal.entries()[0].record.time;
        let end = journal.entries().last().unwrap().record.time;
        assert_eq!(begin.until(end).as_secs(), 3 + 20);
        assert_eq!(journal.count("timer_fired"), 5);
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B135
#[test]
fn an_undo_has_its_own_timeout_and_a_panic_is_a_failed_attempt() {
    for_each_store(async |store| {
        let attempts = Arc::new(AtomicU32::new(0));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let attempts = attempts.clone();
            async move {
                ctx.step("hangs", || ok(1))
                    .undo(|_| async {
                        std::future::pending::<()>().await;
                        Ok::<_, Error>(())
                    })
                    .undo_timeout(secs(5))
                    .await?;
                ctx.step("panics", || ok(1))
                    .retry(Retry::constant(2, secs(1)))
                    .undo(move |_| async move {
                        match attempts.fetch_add(1, Ordering::Relaxed) {
                            0 => panic!("oh no"),
                            _ => Ok::<_, Error>(()),
                        }
                    })
                    .await?;
                Err::<(), _>(Error::fatal("stop"))
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        let Err(WaitError::RollbackFailed { rollback_error, .. }) = run.wait_json().await else {
            panic!("its rollback did not fail");
        };
        let cause = rollback_error.cause.unwrap();
        assert!(cause.is(ErrorCode::StepTimedOut), "{cause}");
        let journal = test.journal(&run).await;
        let first = journal
            .entries()
            .iter()
            .find_map(|entry| match &entry.record.body {
                everstep::journal::Body::UndoFailed(failed) => Some(failed.error.clone()),
                _ => None,
            });
        let first: Failure = first.unwrap();
        assert_eq!(first.message, "the undo panicked: oh no");
        journal.assert_contains("undo_completed panics:0");
    });
}
