//! Control in bulk: by filter, over all pages, with progress and a report per run.

use std::sync::{Arc, Mutex};

use everstep::control::{Because, BulkProgress, Control, Effect};
use everstep::{RunStatus, Workflows, millis, secs};

use crate::control_support::{fails_in_b, resting, two_steps};
use crate::support::{for_each_store, json};

// B150, B183
#[test]
fn every_matching_run_is_processed_and_reported() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("rest", resting)
                    .function("steps", two_steps),
            )
            .start()
            .await;
        for n in 0..30 {
            let workflow = if n % 3 == 0 { "steps" } else { "rest" };
            test.start_by_name(workflow, json(&()))
                .id(format!("r{n}"))
                .tag("red")
                .await
                .unwrap();
        }
        test.start_by_name("rest", json(&()))
            .id("other")
            .await
            .unwrap();
        test.advance(secs(1)).await;
        let seen: Arc<Mutex<Vec<BulkProgress>>> = Arc::default();
        let saw = seen.clone();
        let report = test
            .list()
            .tag("red")
            .each(Control::Cancel { rollback: false })
            .reason("sale is over")
            .by("alice")
            .progress(move |so_far| saw.lock().unwrap().push(so_far))
            .await
            .unwrap();
        assert_eq!(report.runs.len(), 30);
        assert_eq!(report.changed(), 20);
        for (run, result) in &report.runs {
            let done = result.as_ref().unwrap();
            assert_eq!(done.run, *run);
            match done.effect {
                Effect::Done => assert_eq!(done.status, RunStatus::Cancelling),
                Effect::Nothing(because) => {
                    assert_eq!(
                        (because, done.status),
                        (Because::Finished, RunStatus::Completed)
                    );
                }
                Effect::NeedsWorker | Effect::Deleted => panic!("{done}"),
            }
        }
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen.len(), 30);
        assert!(
            seen.iter()
                .zip(1..)
                .all(|(p, n)| p.done == n && p.total == 30 && p.refused == 0)
        );
        test.advance(millis(50)).await;
        let cancelled = test.list().status(RunStatus::Cancelled).await.unwrap().runs;
        assert_eq!(cancelled.len(), 20);
        let other = test.run("other").await.unwrap();
        assert_eq!(other.status().await.unwrap(), RunStatus::Sleeping);
    });
}

// B47
#[test]
fn all_failed_runs_of_a_workflow_are_recovered_together() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", fails_in_b))
            .start()
            .await;
        for n in 0..10 {
            test.start_by_name("w", json(&()))
                .id(format!("r{n}"))
                .await
                .unwrap();
        }
        test.advance(secs(5)).await;
        // In the next release, the bank is available.
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().function(
                "w",
                |ctx: everstep::Ctx<everstep::AnyEvent>, (): ()| async move {
                    let a: u32 = ctx.step("a", || crate::support::ok(1)).await?;
                    let b: u32 = ctx.step("b", || crate::support::ok(2)).await?;
                    Ok::<_, everstep::Error>(a + b)
                },
            ))
        })
        .await;
        let failed = test.list().workflow("w").status(RunStatus::Failed);
        let report = failed.each(Control::Recover).by("alice").await.unwrap();
        assert_eq!(report.changed(), 10);
        test.advance(secs(1)).await;
        let completed = test.list().status(RunStatus::Completed).await.unwrap().runs;
        assert_eq!(completed.len(), 10);
        let nothing = test
            .list()
            .workflow("w")
            .each(Control::Recover)
            .await
            .unwrap();
        assert_eq!((nothing.runs.len(), nothing.changed()), (10, 0));
    });
}
