//! Other ways to receive events: any of several, batches, without waiting, and with a reply to a
//! waiting sender.

use everstep::errors::RequestError;
use everstep::inspect::Reason;
use everstep::operation::OneOf2;
use everstep::schemars::{self, JsonSchema};
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Event, Request, RunHandle, RunStatus, Workflows, hours,
    minutes,
};
use serde::{Deserialize, Serialize};

use crate::support::{Ping, for_each_store, json, ok, output, ping, restart, start};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Stop;

impl Event for Stop {
    const NAME: &'static str = "stop";
}

async fn stop(run: &RunHandle) {
    run.send_by_name(Stop::NAME, json(&Stop), None)
        .await
        .unwrap();
}

// B71, B69
#[test]
fn a_wait_for_several_events_returns_the_oldest_with_its_kind() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.sleep("nap", hours(1)).await?;
                    let mut seen = Vec::new();
                    for _ in 0..3 {
                        seen.push(match ctx.any_event::<(Ping, Stop)>().await? {
                            OneOf2::A(Ping(n)) => format!("ping {n}"),
                            OneOf2::B(Stop) => "stop".to_owned(),
                        });
                    }
                    Ok(seen)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        stop(&run).await;
        ping(&run, 1).await;
        ping(&run, 2).await;
        let run = restart(&mut test).await;
        assert_eq!(
            output::<Vec<String>>(&run).await,
            ["stop", "ping 1", "ping 2"]
        );
    });
}

// B72
#[test]
fn a_run_shows_which_events_it_waits_for() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.any_event::<(Ping, Stop)>().await?;
                    Ok(())
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let why = run.why().await.unwrap();
        let names = why.reasons.iter().find_map(|reason| match reason {
            Reason::Event { names, .. } => Some(names.clone()),
            _ => None,
        });
        let names: Vec<_> = names.unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["ping", "stop"]);
    });
}

// B74, B80
#[test]
fn a_wait_for_several_events_times_out_the_same_on_replay() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let first = ctx.any_event::<(Ping, Stop)>().timeout(minutes(1)).await?;
                    ctx.sleep("nap", hours(1)).await?;
                    let late = ctx.any_event::<(Ping, Stop)>().timeout(minutes(1)).await?;
                    Ok((first.is_none(), late == Some(OneOf2::A(Ping(7)))))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(10)).await;
        ping(&run, 7).await;
        let run = restart(&mut test).await;
        assert_eq!(output::<(bool, bool)>(&run).await, (true, true));
    });
}

// B73, B74
#[test]
fn a_batch_takes_the_events_that_have_arrived_up_to_its_size_and_none_after_its_timeout() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.sleep("nap", hours(1)).await?;
                    let mut batches = Vec::new();
                    for _ in 0..4 {
                        let batch = ctx.events::<Ping>(2).timeout(minutes(1)).await?;
                        batches.push(batch.into_iter().map(|Ping(n)| n).collect::<Vec<_>>());
                    }
                    Ok(batches)
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        for n in 1..=3 {
            ping(&run, n).await;
        }
        let run = restart(&mut test).await;
        test.advance(hours(1)).await;
        test.reach(&run, RunStatus::Waiting).await;
        ping(&run, 4).await;
        let expected: [&[u32]; 4] = [&[1, 2], &[3], &[4], &[]];
        assert_eq!(output::<Vec<Vec<u32>>>(&run).await, expected);
    });
}

// B78, B82
#[test]
fn try_event_takes_an_event_only_if_one_has_arrived() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let before = ctx.try_event::<Ping>().await?;
                    ctx.sleep("nap", hours(1)).await?;
                    let after = ctx.try_event::<Ping>().await?;
                    let again = ctx.try_event::<Ping>().await?;
                    ctx.sleep("later", hours(1)).await?;
                    Ok((before.is_none(), after, again.is_none()))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        test.advance(minutes(1)).await;
        ping(&run, 5).await;
        test.advance(minutes(90)).await;
        let run = restart(&mut test).await;
        let expected = (true, Some(Ping(5)), true);
        assert_eq!(output::<(bool, Option<Ping>, bool)>(&run).await, expected);
    });
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Double(u32);

impl Event for Double {
    const NAME: &'static str = "double";
}

impl Request for Double {
    type Reply = u32;
}

/// Answers two requests, each after a step.
async fn doubling(ctx: Ctx<AnyEvent>, _: ()) -> everstep::Result<()> {
    for _ in 0..2 {
        let request = ctx.event::<Double>().received().await?;
        let n = request.event.0;
        let doubled: u32 = ctx.step("double", || ok(n * 2)).await?;
        ctx.reply(&request, &doubled)?;
    }
    Ok(())
}

// B84
#[test]
fn a_request_returns_the_workflows_reply_to_its_event() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(Workflows::new().function("w", doubling))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(run.request(&Double(4)).await.unwrap(), 8);
        let run = restart(&mut test).await;
        assert_eq!(run.request(&Double(5)).await.unwrap(), 10);
        output::<()>(&run).await;
        assert_eq!(test.journal(&run).await.count("replied"), 2);
    });
}

// B86
#[test]
fn answering_twice_is_an_error_and_replaying_an_answer_is_not() {
    for_each_store(async |store| {
        let mut test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    let request = ctx.event::<Double>().received().await?;
                    ctx.reply(&request, &1)?;
                    ctx.sleep("nap", hours(1)).await?;
                    let again: Error = ctx.reply(&request, &2).unwrap_err();
                    Ok(again.is(ErrorCode::RepliedAlready))
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(run.request(&Double(1)).await.unwrap(), 1);
        let run = restart(&mut test).await;
        assert!(output::<bool>(&run).await);
        assert_eq!(test.journal(&run).await.count("replied"), 1);
    });
}

// B87
#[test]
fn a_request_reports_a_timeout_or_the_end_of_the_run() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(
                Workflows::new().function("w", |ctx: Ctx<AnyEvent>, _: ()| async move {
                    ctx.event::<Double>().await?;
                    ctx.sleep("nap", hours(1)).await?;
                    Ok(())
                }),
            )
            .start()
            .await;
        let run = start(&test).await;
        let late = run.request_within(&Double(1), minutes(1)).await;
        assert!(matches!(late, Err(RequestError::TimedOut(_))), "{late:?}");
        let ended = run.request(&Double(2)).await;
        assert!(matches!(ended, Err(RequestError::RunEnded(_))), "{ended:?}");
        let refused = run.request(&Double(3)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RunFinished);
    });
}
