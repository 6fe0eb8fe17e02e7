//! Deleting runs, one by one, in bulk, and by age: nothing is left, and the id can be reused.

use std::sync::{Arc, OnceLock};

use everstep::control::{Control, Effect};
use everstep::journal::Generation;
use everstep::{
    AnyEvent, Ctx, Engine, Error, ErrorCode, Retention, RunStatus, Workflows, days, hours, millis,
    minutes, secs,
};

use crate::control_support::{PING, fails_in_b, resting, slow, two_steps};
use crate::support::{for_each_store, json, ok, output, ping, start};

// B153
#[test]
fn a_deleted_run_leaves_nothing_and_its_id_can_be_reused() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        for _ in 0..2 {
            let run = test
                .start_by_name("w", json(&()))
                .id("r")
                .tag("red")
                .idempotency_key("key")
                .await
                .unwrap();
            assert!(run.created());
            let sent = run
                .send_by_name(PING, json(&7), Some("once".to_owned()))
                .await
                .unwrap();
            assert!(matches!(sent, everstep::control::Sent::Accepted(_)));
            test.reach(&run, RunStatus::Sleeping).await;
            run.restart().await.unwrap();
            test.reach(&run, RunStatus::Sleeping).await;
            let done = run.delete().by("alice").await.unwrap();
            assert!(done.changed() && done.effect == Effect::Deleted, "{done}");
            let gone = run.status().await.unwrap_err();
            assert_eq!(gone.code(), ErrorCode::UnknownRun);
            assert!(test.run("r").await.is_err());
            assert!(test.list().await.unwrap().runs.is_empty());
            assert!(test.list().tag("red").await.unwrap().runs.is_empty());
            let again = run.delete().await.unwrap_err();
            assert_eq!(again.code(), ErrorCode::UnknownRun);
        }
        let run = start(&test).await;
        assert_eq!(run.generation().await.unwrap(), Generation(1));
        ping(&run, 1).await;
        assert_eq!(output::<u32>(&run).await, 1);
        drop(run);
        assert!(store.timers_left(test).await.is_empty());
    });
}

// B153
#[test]
fn a_run_that_waits_for_a_deleted_run_is_notified() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        let waiting = tokio::spawn({
            let run = run.clone();
            async move { run.wait_json().await }
        });
        test.advance(secs(1)).await;
        run.delete().await.unwrap();
        let ended = waiting.await.unwrap().unwrap_err();
        let code = ended.code();
        assert!(
            matches!(code, ErrorCode::RunTerminated | ErrorCode::UnknownRun),
            "{ended}"
        );
    });
}

// B153
#[test]
fn a_run_that_deletes_itself_stops() {
    for_each_store(async |store| {
        let engine: Arc<OnceLock<Engine>> = Arc::default();
        let own = engine.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let own = own.clone();
            async move {
                ctx.step("delete", || async {
                    let run = own.get().unwrap().run("r").await.unwrap();
                    run.delete()
                        .await
                        .map_err(|error| Error::new(error.to_string()))?;
                    slow(1_000, ()).await
                })
                .await?;
                ctx.step("after", || ok(())).await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let _ = engine.set((*test).clone());
        start(&test).await;
        test.advance(minutes(5)).await;
        assert!(test.run("r").await.is_err());
        assert_eq!((test.calls("after"), test.hot_runs()), (0, 0));
    });
}

// B153
#[test]
fn a_deletion_in_bulk_reports_each_id_and_processes_duplicates_once() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        for id in ["a", "b"] {
            test.start_by_name("w", json(&())).id(id).await.unwrap();
        }
        test.advance(millis(50)).await;
        let report = test
            .each(["a", "missing", "b", "a"], Control::Delete)
            .by("alice")
            .await
            .unwrap();
        let ids: Vec<_> = report.runs.iter().map(|(run, _)| run.to_string()).collect();
        assert_eq!(ids, ["a", "missing", "b"]);
        assert_eq!(report.changed(), 2);
        let refused: Vec<_> = report.refused().collect();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].1.code(), ErrorCode::UnknownRun);
        assert!(test.list().await.unwrap().runs.is_empty());
    });
}

// B153
#[test]
fn retention_depends_on_the_final_status() {
    for_each_store(async |store| {
        let retention = Retention::forever()
            .keep(RunStatus::Completed, days(1))
            .keep(RunStatus::Failed, days(10))
            .keep(RunStatus::Waiting, hours(1));
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("steps", two_steps)
                    .function("fail", fails_in_b)
                    .function("rest", resting),
            )
            .settings(|settings| {
                settings.retention = retention;
                settings.retention_interval = days(1_000);
            })
            .start()
            .await;
        for workflow in ["steps", "fail", "rest"] {
            test.start_by_name(workflow, json(&()))
                .id(workflow)
                .await
                .unwrap();
        }
        test.advance(hours(20)).await;
        assert!(test.apply_retention().await.unwrap().is_empty());
        test.advance(hours(5)).await;
        let deleted = test.apply_retention().await.unwrap();
        assert_eq!(
            deleted.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
            ["steps"]
        );
        test.advance(days(10)).await;
        let deleted = test.apply_retention().await.unwrap();
        assert_eq!(
            deleted.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
            ["fail"]
        );
        let left = test.list().await.unwrap().runs;
        assert_eq!(
            left[0].status,
            RunStatus::Waiting,
            "what is not over is kept"
        );
        assert_eq!(left.len(), 1);
    });
}

// B153
#[test]
fn retention_works_in_the_background() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .settings(|settings| {
                settings.retention = Retention::forever().keep(RunStatus::Completed, hours(2));
            })
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 3);
        test.advance(minutes(90)).await;
        assert!(run.status().await.is_ok());
        test.advance(hours(3)).await;
        assert_eq!(
            run.status().await.unwrap_err().code(),
            ErrorCode::UnknownRun
        );
    });
}

// B154
#[test]
fn a_run_that_cannot_be_deleted_does_not_prevent_other_deletions() {
    for_each_store(async |store| {
        // A run that starts a child of an unknown workflow stays until the start is delivered.
        let code = |ctx: Ctx<AnyEvent>, owes: bool| async move {
            if owes {
                let child = ctx.child_by_name("unknown", json(&()));
                child.detach().await?;
            }
            Ok::<_, Error>(())
        };
        let settings = |settings: &mut everstep::Settings| {
            settings.retention = Retention::forever().keep(RunStatus::Completed, days(1));
            settings.retention_interval = days(1_000);
        };
        let engine = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .settings(settings);
        let mut test = engine.start().await;
        for (id, owes) in [("first", false), ("owes", true), ("last", false)] {
            let run = test.start_by_name("w", json(&owes)).id(id).await.unwrap();
            run.wait_json().await.unwrap();
        }
        test.advance(days(2)).await;
        let mut deleted = test.apply_retention().await.unwrap();
        deleted.sort();
        let deleted: Vec<&str> = deleted.iter().map(|run| run.as_str()).collect();
        assert_eq!(deleted, ["first", "last"]);
        assert!(test.run("owes").await.is_ok());

        test.redeploy(|engine| {
            engine
                .workflows(Workflows::new().function("unknown", |_: Ctx<AnyEvent>, (): ()| ok(())))
        })
        .await;
        test.advance(secs(1)).await;
        let deleted = test.apply_retention().await.unwrap();
        assert_eq!(deleted.len(), 1);
    });
}

/// Found by the simulation.
// B154
#[test]
fn a_run_that_is_revived_while_it_expires_is_neither_ended_nor_deleted() {
    for_each_store(async |store| {
        let retention = Retention::forever().keep(RunStatus::Completed, secs(1));
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .settings(|settings| {
                settings.retention = retention;
                settings.retention_interval = days(1_000);
            })
            .start()
            .await;
        let run = start(&test).await;
        ping(&run, 1).await;
        output::<u32>(&run).await;
        test.advance(secs(2)).await;
        // Both requests are in flight at once, so the second one finds the state that the first one
        // leaves.
        let revived = std::future::IntoFuture::into_future(run.restart());
        let (revived, expired) = tokio::join!(revived, test.apply_retention());
        let expired = expired.unwrap();
        if revived.is_ok() {
            assert!(expired.is_empty());
            assert_eq!(run.generation().await.unwrap(), Generation(2));
            assert!(!run.status().await.unwrap().is_terminal());
        }
    });
}

/// Found by the simulation.
// B153
#[test]
fn a_run_with_the_id_of_a_deleted_one_gets_the_result_of_an_ended_child() {
    for_each_store(async |store| {
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let child = ctx.child_by_name("child", json(&())).await?;
            Ok(child.decode::<u32>()?)
        };
        let child = |_: Ctx<AnyEvent>, _: ()| async { Ok(7) };
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("w", parent)
                    .function("child", child),
            )
            .start()
            .await;
        for _ in 0..2 {
            let run = start(&test).await;
            let result = run.wait_json_within(minutes(5)).await.unwrap();
            assert_eq!(result.as_str(), "7");
            run.delete().await.unwrap();
        }
    });
}
