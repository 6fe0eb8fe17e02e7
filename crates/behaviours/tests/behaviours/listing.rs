//! Reading runs: lists, details and reasons.

use everstep::inspect::StepStatus;
use everstep::{
    AnyEvent, Ctx, Error, Payload, Retry, RunStatus, Workflows, hours, millis, minutes,
};

use crate::support::{Ping, fail, for_each_store, json, ok, output, ping, start};

async fn each_status(ctx: Ctx<AnyEvent>, wanted: String) -> everstep::Result<()> {
    match wanted.as_str() {
        "completed" => Ok(()),
        "failed" => Err(Error::new("no luck")),
        "sleeping" => ctx.sleep("nap", hours(1)).await,
        "waiting" => ctx.event::<Ping>().await.map(drop),
        "retrying" => ctx
            .step("a", || fail("no luck"))
            .retry(Retry::constant(9, hours(1)))
            .await
            .map(drop),
        _ => {
            let work = || async {
                tokio::time::sleep(hours(1)).await;
                ok(()).await
            };
            ctx.step("long", work).await
        }
    }
}

const STATUSES: [RunStatus; 6] = [
    RunStatus::Completed,
    RunStatus::Failed,
    RunStatus::Sleeping,
    RunStatus::Waiting,
    RunStatus::Retrying,
    RunStatus::Running,
];

async fn ids(list: everstep::inspect::ListRuns) -> Vec<String> {
    list.await
        .unwrap()
        .runs
        .iter()
        .map(|run| run.id.to_string())
        .collect()
}

// B202
#[test]
fn the_list_follows_every_transition_and_filters_by_workflow_status_tag_and_time() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("a", each_status)
                    .function("b", each_status),
            )
            .start()
            .await;
        let mut middle = test.now();
        for workflow in ["a", "b"] {
            for status in STATUSES {
                let id = format!("{workflow}-{status}");
                let start = test
                    .start_by_name(workflow, json(&status))
                    .id(id)
                    .tag(workflow)
                    .tag("all");
                start.await.unwrap();
            }
            test.advance(minutes(1)).await;
            if workflow == "a" {
                middle = test.now();
            }
        }
        for status in STATUSES {
            assert_eq!(
                ids(test.list().status(status)).await,
                [format!("b-{status}"), format!("a-{status}")]
            );
            assert_eq!(
                ids(test.list().status(status).workflow("a")).await,
                [format!("a-{status}")]
            );
        }
        assert_eq!(ids(test.list().workflow("a").workflow("b")).await.len(), 12);
        assert_eq!(ids(test.list().tag("all")).await.len(), 12);
        assert_eq!(
            ids(test.list().tag("b").status(RunStatus::Failed)).await,
            ["b-failed"]
        );
        assert_eq!(ids(test.list().created_from(middle)).await.len(), 6);
        assert_eq!(
            ids(test.list().created_before(middle).status(RunStatus::Failed)).await,
            ["a-failed"]
        );
        assert_eq!(ids(test.list().workflow("c")).await, [""; 0]);
        ping(&test.run("a-waiting").await.unwrap(), 1).await;
        test.advance(millis(10)).await;
        assert_eq!(
            ids(test.list().status(RunStatus::Waiting)).await,
            ["b-waiting"]
        );
        let twice = test.list().status(RunStatus::Completed).workflow("a");
        assert_eq!(ids(twice).await, ["a-waiting", "a-completed"]);
    });
}

// B202
#[test]
fn pages_have_neither_gaps_nor_repetitions() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", |_: Ctx<AnyEvent>, _: ()| async { Ok(()) }))
            .start()
            .await;
        for n in 0..25 {
            test.start_by_name("w", Payload::null())
                .id(format!("r{n:02}"))
                .await
                .unwrap();
        }
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let list = test.list().limit(10);
            let page = match cursor {
                Some(cursor) => list.after(cursor),
                None => list,
            };
            let page = page.await.unwrap();
            found.extend(page.runs.iter().map(|run| run.id.to_string()));
            // Runs that are started meanwhile are on no later page.
            test.start_by_name("w", Payload::null()).await.unwrap();
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let expected: Vec<_> = (0..25).rev().map(|n| format!("r{n:02}")).collect();
        assert_eq!(found, expected);
    });
}

// B203
#[test]
fn the_details_of_a_run_contain_its_workflow_steps_and_times() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let a: u32 = ctx.step("a", || ok(1)).await?;
            ctx.sleep("nap", hours(1)).await?;
            let caught = ctx
                .try_step("b", || fail("no luck"))
                .with(|step| step.retry(Retry::none()))
                .await?;
            Ok((a, caught.is_err()))
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let begun = test.now();
        let run = start(&test).await;
        output::<(u32, bool)>(&run).await;
        let info = run.inspect().await.unwrap();
        assert_eq!(
            (info.row.workflow.as_str(), info.row.status),
            ("w", RunStatus::Completed)
        );
        assert_eq!(
            (info.row.created_at, info.row.updated_at),
            (begun, begun.after(hours(1)))
        );
        let overview = info.overview;
        assert_eq!(
            (overview.created_at, overview.completed_at),
            (Some(begun), Some(begun.after(hours(1))))
        );
        assert_eq!(overview.result, Some(json(&(1, true))));
        let steps: Vec<_> = overview
            .steps
            .iter()
            .map(|step| (step.location.to_string(), step.status))
            .collect();
        assert_eq!(
            steps,
            [
                ("a:0".to_owned(), StepStatus::Completed),
                ("b:0".to_owned(), StepStatus::Exhausted)
            ]
        );
        assert_eq!(
            (overview.steps[0].started_at, &overview.steps[0].result),
            (Some(begun), &Some(json(&1)))
        );
    });
}

// B192
#[test]
fn what_a_run_waits_for_is_read_from_the_store() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.event::<Ping>().await };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let mut journal = run.journal().await.unwrap();
        let copy = journal.clone();
        journal.clear();
        assert_eq!(run.journal().await.unwrap(), copy);
        let mut info = run.inspect().await.unwrap();
        info.overview.waits.clear();
        info.row.status = RunStatus::Failed;
        assert_eq!(run.inspect().await.unwrap().overview.waits.len(), 1);
        assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
    });
}

#[test]
fn why_returns_the_main_reasons() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", each_status))
            .start()
            .await;
        for (status, expected) in [
            ("completed", "completed: it is over (completed)"),
            ("failed", "failed: it is over (failed)"),
            (
                "sleeping",
                "sleeping: it sleeps in `nap:0` until 2026-01-01T",
            ),
            (
                "waiting",
                "waiting: it waits for event `ping` since 2026-01-01T",
            ),
            (
                "retrying",
                "retrying: it retries step `a:0` (attempt 2) at 2026-01-01T",
            ),
            (
                "running",
                "running: it executes step `long:0` (attempt 1) since 2026-01-01T",
            ),
        ] {
            let run = test
                .start_by_name("w", json(status))
                .id(status)
                .await
                .unwrap();
            test.advance(millis(100)).await;
            let why = run.why().await.unwrap().to_string();
            assert!(why.starts_with(expected), "{why}");
        }
    });
}
