//! Forks: new runs that continue from a point of another run.

use everstep::inspect::StepStatus;
use everstep::journal::{Body, Generation};
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, RunStatus, Workflows, millis, minutes, secs,
};

use crate::control_support::{resting, slow, status_everywhere, two_steps};
use crate::support::{Seen, for_each_store, json, output, ping, restart, start};

async fn three_steps(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let a: u32 = ctx.step("a", || slow(1, 1)).await?;
    let b: u32 = ctx.step("b", || slow(1, 10)).await?;
    let c: u32 = ctx.step("c", || slow(1, b * 10)).await?;
    Ok(a + b + c)
}

#[test]
fn the_last_value_of_each_option_of_a_fork_counts() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", three_steps))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 111);
        let fork = run.fork().id("").at("").id("f").at("b");
        let fork = fork.with_result(&30).with_result(&20).await.unwrap();
        assert_eq!(fork.id().as_str(), "f");
        assert_eq!(output::<u32>(&fork).await, 221);
        assert!(run.fork().id("g").id("").await.is_err());
        assert!(run.fork().at("b").at("").await.is_err());
    });
}

// B151
#[test]
fn a_fork_has_all_earlier_results_and_does_not_change_the_original() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", three_steps))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 111);
        let before = run.journal().await.unwrap();
        let fork = run
            .fork()
            .at("b")
            .with_result(&20)
            .id("f")
            .by("alice")
            .await
            .unwrap();
        assert_eq!(fork.id().as_str(), "f");
        assert_eq!(output::<u32>(&fork).await, 221);
        assert_eq!(
            (test.calls("a"), test.calls("b"), test.calls("c")),
            (1, 1, 2)
        );
        assert_eq!(run.journal().await.unwrap(), before);
        assert_eq!(run.generation().await.unwrap(), Generation(1));
        let journal = test.journal(&fork).await;
        let Body::Created(created) = &journal.entries()[0].record.body else {
            panic!();
        };
        let from = created.forked_from.as_ref().unwrap();
        assert_eq!((from.run.as_str(), from.generation), ("r", Generation(1)));
        assert_eq!(created.by.as_deref(), Some("alice"));
        journal.assert_steps(&[
            ("a:0", StepStatus::Completed, 1),
            ("b:0", StepStatus::Completed, 1),
            ("c:0", StepStatus::Completed, 1),
        ]);
        let ids: Vec<_> = test
            .list()
            .await
            .unwrap()
            .runs
            .into_iter()
            .map(|row| row.id)
            .collect();
        assert_eq!(ids.len(), 2);
    });
}

// B151
#[test]
fn a_fork_of_a_waiting_run_waits_independently() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", resting))
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        test.advance(minutes(30)).await;
        let fork = run.fork().id("f").await.unwrap();
        test.advance(millis(10)).await;
        assert_eq!(status_everywhere(&test, &fork).await, RunStatus::Sleeping);
        test.advance(minutes(31)).await;
        // The deadline of the sleep is the original's.
        for run in [&run, &fork] {
            assert_eq!(status_everywhere(&test, run).await, RunStatus::Waiting);
        }
        ping(&fork, 1).await;
        assert_eq!(output::<u32>(&fork).await, 1);
        assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
        ping(&run, 2).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<u32>(&run).await, 2);
    });
}

// B152
#[test]
fn a_step_in_flight_refuses_the_fork_until_it_has_ended() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", two_steps))
            .start()
            .await;
        let run = start(&test).await;
        test.advance(millis(50)).await;
        let refused = run.fork().await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::WrongState);
        // The running step is executed again in the fork.
        let fork = run.fork().at("a").await.unwrap();
        assert_eq!(output::<u32>(&fork).await, 3);
        assert_eq!(output::<u32>(&run).await, 3);
        let fork = run.fork().await.unwrap();
        assert_eq!(output::<u32>(&fork).await, 3);
        assert_eq!(test.calls("a"), 2);
    });
}

// B151
#[test]
fn repeating_a_fork_returns_the_same_run_and_an_id_in_use_is_refused() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", three_steps))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 111);
        for _ in 0..2 {
            let fork = run.fork().at("c").id("f").await.unwrap();
            assert_eq!(output::<u32>(&fork).await, 111);
        }
        assert_eq!(test.calls("c"), 2);
        let other = test
            .start_by_name("w", json(&()))
            .id("other")
            .await
            .unwrap();
        assert_eq!(output::<u32>(&other).await, 111);
        let refused = run.fork().at("c").id("other").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RunExists);
        let refused = run.fork().with_result(&1).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidOptions);
    });
}

// B151
#[test]
fn another_fork_under_the_same_id_is_refused() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", three_steps))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(output::<u32>(&run).await, 111);
        let fork = run.fork().at("b").with_result(&20).id("f");
        assert_eq!(output::<u32>(&fork.await.unwrap()).await, 221);
        let others = [
            run.fork().at("c").with_result(&20).id("f"),
            run.fork().at("b").with_result(&30).id("f"),
            run.fork().at("b").id("f"),
            run.fork().id("f"),
        ];
        for other in others {
            let refused = other.await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::RunExists);
            assert!(refused.to_string().contains("another"), "{refused}");
        }
        let again = run.fork().at("b").with_result(&20).id("f").await.unwrap();
        assert_eq!(output::<u32>(&again).await, 221);
        assert_eq!(test.calls("c"), 2);
    });
}

// B151
#[test]
fn steps_of_a_fork_have_their_own_idempotency_keys() {
    for_each_store(async |store| {
        let keys: Seen<String> = Seen::new();
        let saw = keys.clone();
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let saw = saw.clone();
            async move {
                ctx.step_with("s", |step| {
                    saw.add(step.idempotency_key());
                    slow(1, 1u32)
                })
                .await
            }
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        output::<u32>(&run).await;
        let fork = run.fork().at("s").await.unwrap();
        output::<u32>(&fork).await;
        run.restart_from("s").await.unwrap();
        output::<u32>(&run).await;
        let mut keys = keys.take();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 3);
    });
}

// B151
#[test]
fn emissions_of_the_original_are_not_repeated() {
    for_each_store(async |store| {
        let code = |ctx: Ctx<AnyEvent>, (): ()| async move {
            ctx.emit("topic", &1)?;
            ctx.step("s", || slow(1, 1u32)).await?;
            ctx.emit("topic", &2)?;
            Ok::<_, Error>(())
        };
        let test = store
            .engine()
            .workflows(Workflows::new().function("w", code))
            .start()
            .await;
        let run = start(&test).await;
        run.wait_json().await.unwrap();
        let mut emissions = test.subscribe();
        let fork = run.fork().at("s").await.unwrap();
        fork.wait_json().await.unwrap();
        let first = tokio::time::timeout(secs(1), emissions.next())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (first.run.as_str(), first.payload.as_str()),
            (fork.id().as_str(), "2")
        );
    });
}
