//! Children: a run starts another, waits for it, and gets its result or its failure.

use everstep::inspect::Reason;
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Options, Payload, Result, RunStatus, Workflow, Workflows,
    hours, minutes, secs,
};

use crate::support::{
    Ping, Seen, TestStore, failure, for_each_store, json, ok, output, ping, restart, start,
    start_with,
};

/// Doubles a number after a delay.
struct Double;

impl Workflow for Double {
    const NAME: &'static str = "double";
    type Input = u32;
    type Output = u32;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, n: u32) -> Result<u32> {
        ctx.sleep("think", secs(5)).await?;
        ctx.step("double", || ok(n * 2)).await
    }
}

async fn doubled(ctx: Ctx<AnyEvent>, n: u32) -> Result<u32> {
    let once = ctx.child::<Double>(&n).await?;
    ctx.child::<Double>(&once).await
}

/// Returns the number of runs of a workflow.
async fn count(test: &TestEngine, workflow: &str) -> usize {
    let page = test.list().workflow(workflow).limit(1_000).await.unwrap();
    page.runs.len()
}

// B166, B167
#[test]
fn a_run_gets_the_result_of_its_child() {
    for_each_store(async |store: &TestStore| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", doubled))
            .start()
            .await;
        let run = start_with(&test, &10).await;
        assert_eq!(output::<u32>(&run).await, 40);
        assert_eq!(count(&test, "double").await, 2);
        test.journal(&run).await.assert_kinds(&[
            "created",
            "child_started",
            "child_finished",
            "child_started",
            "child_finished",
            "completed",
        ]);
    });
}

// B166
#[test]
fn a_crash_does_not_start_a_child_twice() {
    for_each_store(async |store: &TestStore| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", doubled))
            .start()
            .await;
        let mut run = start_with(&test, &10).await;
        for _ in 0..6 {
            test.advance(secs(2)).await;
            run = restart(&mut test).await;
        }
        assert_eq!(output::<u32>(&run).await, 40);
        assert_eq!(count(&test, "double").await, 2);
        assert_eq!(test.calls("double"), 2);
    });
}

#[test]
fn evicted_parents_and_children_continue() {
    for_each_store(async |store: &TestStore| {
        let builder = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", doubled));
        let test = builder.evict_all().start().await;
        let run = start_with(&test, &1).await;
        assert_eq!(output::<u32>(&run).await, 4);
    });
}

#[test]
fn a_child_can_be_named_and_tagged_and_started_by_name() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let child = ctx.child_by_name("double", json(&4)).id("mine").tag("red");
            child.name("the child").await
        };
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 8);
        let page = test.list().tag("red").await.unwrap();
        assert_eq!(page.runs[0].id.as_str(), "mine");
        let journal = test.journal(&run).await;
        let location = journal.entries()[1].record.body.location().unwrap();
        assert_eq!(location.to_string(), "the child:0");
    });
}

// B167
#[test]
fn a_failed_child_fails_its_parent_with_its_cause() {
    for_each_store(async |store: &TestStore| {
        let test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("broken", |ctx: Ctx<AnyEvent>, _: ()| async move {
                        ctx.step("charge", || async {
                            Err::<u32, _>(Error::fatal("card declined").named("Declined"))
                        })
                        .await
                    })
                    .function("middle", |ctx: Ctx<AnyEvent>, _: ()| async move {
                        ctx.child_by_name("broken", Payload::null())
                            .id("lowest")
                            .await
                    })
                    .function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                        let error = ctx
                            .child_by_name("middle", Payload::null())
                            .await
                            .unwrap_err();
                        let child = error.child_failure().unwrap();
                        assert_eq!(child.workflow, "middle");
                        assert!(child.error.is(ErrorCode::ChildFailed) && !child.cancelled);
                        Err::<(), _>(error)
                    }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::ChildFailed), "{failure:?}");
        let middle = failure.cause.unwrap();
        assert_eq!(middle.message, "child `lowest` of workflow `broken` failed");
        let lowest = middle.cause.unwrap();
        assert_eq!(
            (lowest.name.as_str(), lowest.message.as_str()),
            ("Declined", "card declined")
        );
        assert_eq!(
            test.run("lowest").await.unwrap().status().await.unwrap(),
            RunStatus::Failed
        );
    });
}

// B167
#[test]
fn a_run_stops_waiting_at_the_timeout_on_every_replay() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let parent = {
            let seen = seen.clone();
            move |ctx: Ctx<AnyEvent>, _: ()| {
                let seen = seen.clone();
                async move {
                    let result = ctx.child::<Double>(&1).id("c").timeout(secs(2)).await?;
                    seen.add(result);
                    ctx.sleep("on", minutes(1)).await?;
                    Ok(result)
                }
            }
        };
        let mut test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        start(&test).await;
        test.advance(secs(10)).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<Option<u32>>(&run).await, None);
        assert_eq!(seen.take(), [None, None]);
        let child = test.run("c").await.unwrap();
        assert_eq!(child.status().await.unwrap(), RunStatus::Cancelled);
        drop((run, child));
        assert_eq!(store.timers_left(test).await, []);
    });
}

// B167
#[test]
fn a_child_that_ends_in_time_is_not_timed_out() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let result = ctx.child::<Double>(&1).timeout(secs(6)).await?;
            ctx.sleep("on", minutes(1)).await?;
            Ok(result)
        };
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<Option<u32>>(&run).await, Some(2));
        assert_eq!(test.journal(&run).await.count("timer_fired"), 1);
        drop(run);
        assert_eq!(store.timers_left(test).await, []);
    });
}

// B167
#[test]
fn an_id_that_leads_to_another_workflow_or_to_the_run_itself_is_an_error() {
    for_each_store(async |store: &TestStore| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function(
                "w",
                |ctx: Ctx<AnyEvent>, id: String| async move {
                    let error = ctx.child::<Double>(&1).id(id).await.unwrap_err();
                    let code = error.child_failure().map(|child| child.error.code.clone());
                    Ok(code.unwrap_or_else(|| error.failure().code.clone()))
                },
            ))
            .start()
            .await;
        let run = start_with(&test, &"r").await;
        assert_eq!(output::<String>(&run).await, "invalid_options");
        let other = test
            .start_by_name("w", json("r"))
            .id("other")
            .await
            .unwrap();
        assert_eq!(output::<String>(&other).await, "run_exists");
    });
}

// B167
#[test]
fn a_run_that_exists_already_is_waited_for() {
    for_each_store(async |store: &TestStore| {
        let parent =
            |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.child::<Double>(&1).id("there").await };
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        let there = test.start::<Double>(&21).id("there").await.unwrap();
        test.advance(secs(2)).await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 42, "its first input was kept");
        assert_eq!(there.wait().await.unwrap(), 42);
        let late = test
            .start_by_name("w", Payload::null())
            .id("late")
            .await
            .unwrap();
        assert_eq!(output::<u32>(&late).await, 42, "it was over");
        drop((run, there, late));
        assert_eq!(store.outbox_left(test).await, []);
    });
}

#[test]
fn a_restart_keeps_waiting_for_a_run_that_is_not_a_child() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.child_by_name("waits", Payload::null())
                .id("there")
                .await
        };
        let waits = |ctx: Ctx<AnyEvent>, _: ()| async move { Ok(ctx.event::<Ping>().await?.0) };
        let mut test = store
            .engine()
            .workflows(
                Workflows::new()
                    .function("waits", waits)
                    .function("w", parent),
            )
            .start()
            .await;
        test.start_by_name("waits", Payload::null())
            .id("there")
            .await
            .unwrap();
        start(&test).await;
        test.advance(hours(1)).await;
        let run = restart(&mut test).await;
        test.advance(hours(1)).await;
        ping(&test.run("there").await.unwrap(), 7).await;
        assert_eq!(output::<u32>(&run).await, 7);
    });
}

// B164
#[test]
fn a_child_of_an_unknown_workflow_starts_when_the_workflow_is_registered() {
    for_each_store(async |store: &TestStore| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", doubled))
            .start()
            .await;
        let run = start_with(&test, &3).await;
        test.reach(&run, RunStatus::Waiting).await;
        test.advance(hours(1)).await;
        let why = run.why().await.unwrap();
        assert!(
            matches!(&why.reasons[..], [Reason::Child { workflow, .. }] if workflow.as_str() == "double"),
            "{why}"
        );
        test.redeploy(|setup| {
            setup.workflows(Workflows::new().workflow(Double).function("w", doubled))
        })
        .await;
        let run = test.run("r").await.unwrap();
        assert_eq!(output::<u32>(&run).await, 12);
    });
}

#[test]
fn a_waiting_parent_shows_its_child() {
    for_each_store(async |store: &TestStore| {
        let parent =
            |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.child::<Double>(&1).id("c").await };
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(secs(1)).await;
        assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains("waits for its child `c` of workflow `double`"),
            "{why}"
        );
        let children = run.inspect().await.unwrap().overview.children;
        assert_eq!(children[0].run.as_str(), "c");
        test.advance(secs(10)).await;
        assert!(run.inspect().await.unwrap().overview.children.is_empty());
    });
}

// B166
#[test]
fn a_second_pass_takes_the_results_of_children_and_restarts_abandoned_ones() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let first = ctx.child::<Double>(&1).name("kept").await?;
            let fails = async {
                ctx.sleep("a while", secs(1)).await?;
                match ctx.metadata().attempt {
                    1 => Err(Error::new("the first pass fails")),
                    _ => Ok(()),
                }
            };
            let given_up = ctx.child::<Double>(&first).name("given up");
            let (second, ()) = futures_util::future::try_join(given_up, fails).await?;
            Ok(second)
        };
        let options = Options::new().execution_retries(1);
        let builder = store.engine().workflows(Workflows::new().workflow(Double));
        let test = builder
            .workflows(Workflows::new().function_with("w", options, parent))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 4);
        let page = test.list().workflow("double").await.unwrap();
        let statuses: Vec<_> = page.runs.iter().map(|run| run.status).collect();
        let expected = [
            RunStatus::Completed,
            RunStatus::Cancelled,
            RunStatus::Completed,
        ];
        assert_eq!(statuses, expected, "newest first");
    });
}

#[test]
fn a_child_has_the_deadline_of_its_workflow() {
    for_each_store(async |store: &TestStore| {
        let sleeps = |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.sleep("long", hours(1)).await };
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let error = ctx.child_by_name("c", Payload::null()).await.unwrap_err();
            Ok(error.child_failure().unwrap().error.code.clone())
        };
        let options = Options::new().deadline(secs(3));
        let builder = store
            .engine()
            .workflows(Workflows::new().function_with("c", options, sleeps));
        let test = builder
            .workflows(Workflows::new().function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<String>(&run).await, "deadline_exceeded");
    });
}

#[test]
fn a_run_can_have_a_thousand_children() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx<AnyEvent>, n: u32| async move {
            let children = (0..n).map(|n| ctx.child::<Double>(&n));
            let results = futures_util::future::try_join_all(children).await?;
            Ok(results.iter().sum::<u32>())
        };
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        let run = start_with(&test, &1_000).await;
        assert_eq!(output::<u32>(&run).await, 999_000);
        let journal = test.journal(&run).await;
        assert_eq!(
            (
                journal.count("child_started"),
                journal.count("child_finished")
            ),
            (1_000, 1_000)
        );
        assert_eq!(test.calls("double"), 1_000);
        drop(run);
        assert_eq!(store.outbox_left(test).await, []);
    });
}

#[test]
fn a_chain_of_sixty_descendants_completes() {
    for_each_store(async |store: &TestStore| {
        let descend = |ctx: Ctx<AnyEvent>, n: u32| async move {
            match n {
                0 => Err(Error::fatal("the last of the family")),
                n => ctx.child_by_name("w", json(&(n - 1))).await,
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", descend))
            .start()
            .await;
        let run = start_with(&test, &60).await;
        let failure = failure(&run).await;
        assert!(failure.is(ErrorCode::ChildFailed), "{failure:?}");
        assert_eq!(count(&test, "w").await, 61);
    });
}

#[test]
fn bad_children_are_refused_before_they_are_started() {
    for_each_store(async |store: &TestStore| {
        let parent = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let bad_id = ctx.child::<Double>(&1).id("a b").await.unwrap_err();
            let bad_name = ctx.child_by_name("a/b", Payload::null()).await.unwrap_err();
            let bad_target = ctx
                .send_by_name("a b", "paid", Payload::null())
                .unwrap_err();
            let codes = [bad_id, bad_name, bad_target].map(|error| error.failure().code.clone());
            Ok(codes.to_vec())
        };
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Double).function("w", parent))
            .start()
            .await;
        let run = start(&test).await;
        let codes: Vec<String> = output(&run).await;
        assert_eq!(codes, ["invalid_run_id", "invalid_name", "invalid_run_id"]);
        assert_eq!(count(&test, "double").await, 0);
    });
}
