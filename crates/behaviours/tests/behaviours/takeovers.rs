//! A run whose code ends the process each time it is executed.

use std::time::Duration;

use everstep::{AnyEvent, Ctx, Result, RunStatus, Workflows, secs};

use crate::support::{for_each_store, output, ping, restart, start};

/// A takeover after a crash waits until the lease of the crashed node has expired.
const LEASE_AND_SWEEP: Duration = secs(60);

async fn deadly(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let value: u32 = ctx
        .step("deadly", || async {
            tokio::time::sleep(secs(600)).await;
            Ok::<_, everstep::Error>(7)
        })
        .await?;
    Ok(value)
}

#[test]
fn after_ten_takeovers_without_progress_a_run_is_paused_until_it_is_resumed() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", deadly))
            .start()
            .await;
        start(&test).await;
        for _ in 0..10 {
            test.advance(LEASE_AND_SWEEP).await;
            let run = restart(&mut test).await;
            test.advance(LEASE_AND_SWEEP).await;
            assert_eq!(run.status().await.unwrap(), RunStatus::Running);
        }
        let run = restart(&mut test).await;
        test.reach(&run, RunStatus::Paused).await;
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("taken over 11 times without progress"),
            "{why}"
        );
        // Events that arrive during the pause wait and do not wake the run.
        ping(&run, 1).await;
        test.advance(secs(60)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Paused);
        assert!(run.resume().await.unwrap().changed());
        assert_eq!(output::<u32>(&run).await, 7);
        let again = run.resume().await.unwrap();
        assert!(!again.changed(), "it is not paused any more");
    });
}

#[test]
fn takeovers_use_up_no_retry_and_progress_resets_their_count() {
    for_each_store(async |store| {
        let slow = |ctx: Ctx<AnyEvent>, (): ()| async move {
            for _ in 0..3 {
                let _: () = ctx
                    .step("slow", || async {
                        tokio::time::sleep(secs(90)).await;
                        Ok::<_, everstep::Error>(())
                    })
                    .await?;
            }
            Ok(())
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", slow))
            .start()
            .await;
        let mut run = start(&test).await;
        for _ in 0..3 {
            // Five deploys in the middle of each step: fifteen in all, but never more than ten in a
            // row.
            for _ in 0..5 {
                test.advance(LEASE_AND_SWEEP).await;
                run = restart(&mut test).await;
            }
            test.advance(secs(170)).await;
        }
        run.wait_json_within(secs(600)).await.unwrap();
        let journal = test.journal(&run).await;
        assert_eq!(journal.count("step_failed"), 0);
    });
}

// B704
#[test]
fn after_an_orderly_shutdown_the_first_attempt_of_the_next_step_is_number_1() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            for step in ["first", "second"] {
                let work = || async {
                    tokio::time::sleep(secs(5)).await;
                    Ok::<_, everstep::Error>(())
                };
                ctx.step(step, work).await?;
            }
            Ok(7)
        };
        let open = || {
            let workflows = Workflows::new().function("w", code);
            store.engine().workflows(workflows).start()
        };
        let test = open().await;
        start(&test).await;
        test.advance(secs(1)).await;
        test.shutdown().await;
        drop(test);
        let test = open().await;
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 7);
        let overview = run.inspect().await.unwrap().overview;
        let attempts: Vec<u32> = overview.steps.iter().map(|step| step.attempts).collect();
        assert_eq!(attempts, [1, 1], "{:?}", overview.steps);
    });
}
