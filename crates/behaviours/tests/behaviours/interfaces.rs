//! Interfaces: what a workflow accepts and asks is declared once, and holds for Rust code, for JSON
//! and for workers.

use everstep::operation::OneOf2;
use everstep::schemars::{self, JsonSchema};
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, ErrorCode, Event, Payload, Result, Rpc, RunHandle, RunStatus, Workflows, hours,
    interface, minutes,
};
use serde::{Deserialize, Serialize};

use crate::support::{TestStore, failure, for_each_store, json, output, start, start_with};

macro_rules! events {
    ($($name:ident = $word:literal),*) => {$(
        #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        struct $name(u32);

        impl Event for $name {
            const NAME: &'static str = $word;
        }
    )*};
}

events!(
    One = "one",
    Two = "two",
    Three = "three",
    Four = "four",
    Five = "five",
    Six = "six"
);

#[derive(Serialize, JsonSchema)]
struct Confirm {
    amount: u32,
}

impl Rpc for Confirm {
    const METHOD: &'static str = "confirm";
    type Answer = Decision;
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Decision {
    approved: bool,
}

interface!(OneConfirmed { events: One; rpcs: Confirm; });

interface! {
    #[derive(Debug, PartialEq)]
    SixEvents {
        events: One, Two, Three, Four, Five, Six;
    }
}

async fn engine(store: &TestStore, workflows: Workflows) -> TestEngine {
    store.engine().workflows(workflows).start().await
}

/// Waits for an event, then for an answer.
async fn confirmed(ctx: Ctx<OneConfirmed>, _: ()) -> Result<(u32, bool)> {
    let One(amount) = ctx.event::<One>().await?;
    let decision = ctx.rpc(Confirm { amount }).await?;
    Ok((amount, decision.approved))
}

async fn waiting(store: &TestStore, workflows: Workflows) -> (TestEngine, RunHandle) {
    let test = engine(store, workflows).await;
    let run = start(&test).await;
    test.reach(&run, RunStatus::Waiting).await;
    (test, run)
}

async fn refused(run: &RunHandle, event: &str, payload: Payload) -> (ErrorCode, String) {
    let before = run.journal().await.unwrap();
    let error = run.send_by_name(event, payload, None).await.unwrap_err();
    assert_eq!(run.journal().await.unwrap(), before, "nothing is stored");
    (error.code(), error.to_string())
}

// B401
#[test]
fn a_workflow_without_an_interface_accepts_no_events() {
    for_each_store(async |store| {
        let sleeps = |ctx: Ctx, _: ()| async move { ctx.sleep("nap", hours(1)).await };
        let test = engine(store, Workflows::new().function("w", sleeps)).await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Sleeping).await;
        let (code, message) = refused(&run, "no-such-event", json(&1)).await;
        assert_eq!(code, ErrorCode::EventNotAccepted);
        assert!(message.contains("it accepts no events"), "{message}");
    });
}

// B401
#[test]
fn a_workflow_that_accepts_any_event_takes_every_name_and_payload() {
    for_each_store(async |store| {
        let takes = |ctx: Ctx<AnyEvent>, _: ()| async move { ctx.event_by_name("free").await };
        let (_test, run) = waiting(store, Workflows::new().function("w", takes)).await;
        for (name, payload) in [("other", json(&1)), ("free", json(&["a"]))] {
            run.send_by_name(name, payload, None).await.unwrap();
        }
        assert_eq!(run.wait_json().await.unwrap(), json(&["a"]));
    });
}

// B402
#[test]
fn a_plain_function_refuses_events_and_payloads_that_its_interface_does_not_have() {
    for_each_store(async |store| {
        let workflows = Workflows::new().function("w", confirmed);
        let (test, run) = waiting(store, workflows).await;
        let (code, message) = refused(&run, "two", json(&1)).await;
        assert_eq!(code, ErrorCode::EventNotAccepted);
        assert!(message.contains("it accepts: one"), "{message}");
        for payload in [
            json(&"text"),
            json(&-1),
            json(&1.5),
            json(&5_000_000_000_u64),
        ] {
            let (code, message) = refused(&run, "one", payload).await;
            assert_eq!(code, ErrorCode::SchemaMismatch, "{message}");
        }
        run.send_by_name("one", json(&7), None).await.unwrap();
        test.answer_next::<Confirm>(&run, &Decision { approved: true })
            .await;
        assert_eq!(output::<(u32, bool)>(&run).await, (7, true));
    });
}

// B403
#[test]
fn an_answer_that_does_not_match_leaves_the_rpc_open_whether_it_is_declared_or_not() {
    for_each_store(async |store| {
        let asks_freely = |ctx: Ctx<AnyEvent>, _: ()| async move {
            let decision = ctx.rpc(Confirm { amount: 7 }).await?;
            Ok((7_u32, decision.approved))
        };
        let asks = |ctx: Ctx<OneConfirmed>, _: ()| async move {
            let decision = ctx.rpc(Confirm { amount: 7 }).await?;
            Ok((7_u32, decision.approved))
        };
        let both = Workflows::new()
            .function("free", asks_freely)
            .function("declared", asks);
        let test = engine(store, both).await;
        for workflow in ["free", "declared"] {
            let run = test.start_by_name(workflow, json(&())).await.unwrap();
            let rpc = run.next_rpc::<Confirm>().await.unwrap();
            let before = run.journal().await.unwrap();
            for answer in [json(&"yes"), json(&()), json(&7)] {
                let error = run.answer_json(&rpc.rpc_id, answer).await.unwrap_err();
                assert_eq!(error.code(), ErrorCode::SchemaMismatch, "{workflow}");
            }
            assert_eq!(run.journal().await.unwrap(), before, "{workflow}");
            rpc.answer(&Decision { approved: true }).await.unwrap();
            assert_eq!(output::<(u32, bool)>(&run).await, (7, true));
        }
    });
}

// B404
#[test]
fn an_event_with_the_name_of_an_rpc_is_refused_with_the_advice_to_answer() {
    for_each_store(async |store| {
        let workflows = Workflows::new().function("w", confirmed);
        let (_test, run) = waiting(store, workflows).await;
        let (code, message) = refused(&run, "confirm", json(&true)).await;
        assert_eq!(code, ErrorCode::EventNotAccepted);
        let advice = "it asks this as an rpc: everstep answer r confirm JSON; it accepts: one";
        assert!(message.contains(advice), "{message}");
    });
}

// B405, B832
#[test]
fn a_mismatch_is_explained_in_terms_of_json_and_with_an_example() {
    for_each_store(async |store| {
        let test = engine(
            store,
            Workflows::new().function("w", |_: Ctx, input: Decision| async move { Ok(input) }),
        )
        .await;
        for (input, explanation) in [
            (json(&5), "the value is a number, not an object"),
            (
                json(&serde_json::json!({})),
                "the value has no field `approved`",
            ),
        ] {
            let error = test.start_by_name("w", input).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::SchemaMismatch);
            let message = error.to_string();
            assert!(message.contains(explanation), "{message}");
            let example = r#"; an example is {"approved":true}"#;
            assert!(message.ends_with(example), "{message}");
        }
    });
}

// B406
#[test]
fn next_rpc_waits_until_the_run_makes_one() {
    for_each_store(async |store| {
        let asks = |ctx: Ctx<OneConfirmed>, _: ()| async move {
            ctx.sleep("first", minutes(5)).await?;
            let first = ctx.rpc(Confirm { amount: 1 }).await?;
            let second = ctx.rpc(Confirm { amount: 2 }).await?;
            Ok((first.approved, second.approved))
        };
        let test = engine(store, Workflows::new().function("w", asks)).await;
        let run = start(&test).await;
        let first = run.next_rpc::<Confirm>().await.unwrap();
        assert_eq!(first.args, json(&Confirm { amount: 1 }));
        let again = run.next_rpc_by_name("confirm").await.unwrap();
        assert_eq!(again.rpc_id, first.rpc_id, "it is still open");
        first.answer(&Decision { approved: true }).await.unwrap();
        let second = loop {
            let next = run.next_rpc::<Confirm>().await.unwrap();
            if next.rpc_id != first.rpc_id {
                break next;
            }
        };
        assert_eq!(second.args, json(&Confirm { amount: 2 }));
        second.answer(&Decision { approved: false }).await.unwrap();
        assert_eq!(output::<(bool, bool)>(&run).await, (true, false));
        let ended = run.next_rpc::<Confirm>().await.unwrap_err();
        assert_eq!(ended.code(), ErrorCode::RunFinished);
    });
}

// B406
#[test]
fn next_rpc_reports_a_run_that_ends_first() {
    for_each_store(async |store| {
        let naps = |ctx: Ctx, _: ()| async move { ctx.sleep("nap", hours(1)).await };
        let test = engine(store, Workflows::new().function("w", naps)).await;
        let run = start(&test).await;
        let error = run.next_rpc_by_name("confirm").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::RunFinished);
        let message = error.to_string();
        assert!(
            message.contains("completed") && message.contains("confirm"),
            "{message}"
        );
    });
}

// B407
#[test]
fn any_number_of_events_is_awaited_as_an_interface() {
    for_each_store(async |store| {
        let takes = |ctx: Ctx<SixEvents>, _: ()| async move {
            let mut taken = Vec::new();
            for _ in 0..6 {
                taken.push(match ctx.any_event::<SixEvents>().await? {
                    SixEvents::One(One(n)) => ("one", n),
                    SixEvents::Two(Two(n)) => ("two", n),
                    SixEvents::Three(Three(n)) => ("three", n),
                    SixEvents::Four(Four(n)) => ("four", n),
                    SixEvents::Five(Five(n)) => ("five", n),
                    SixEvents::Six(Six(n)) => ("six", n),
                });
            }
            let last = ctx.any_event::<(One, Six)>().await?;
            Ok((json(&taken), matches!(last, OneOf2::B(Six(7)))))
        };
        let (_test, run) = waiting(store, Workflows::new().function("w", takes)).await;
        let names = ["six", "five", "four", "three", "two", "one"];
        for (n, name) in names.into_iter().enumerate() {
            run.send_by_name(name, json(&n), None).await.unwrap();
        }
        run.send_by_name("six", json(&7), None).await.unwrap();
        let expected: Vec<(&str, usize)> = names.into_iter().zip(0..).collect();
        assert_eq!(
            output::<(Payload, bool)>(&run).await,
            (json(&expected), true)
        );
    });
}

// B408
#[test]
fn events_are_awaited_by_names_that_are_known_only_at_run_time() {
    for_each_store(async |store| {
        let takes = |ctx: Ctx<AnyEvent>, names: Vec<String>| async move {
            let first = ctx.event_by_name(names[0].as_str()).await?;
            let (name, payload) = ctx.any_event_by_name(&names).await?;
            let late = ctx.event_by_name("late").timeout(minutes(1)).await?;
            Ok((first, name, payload, late.is_none()))
        };
        let mut test = engine(store, Workflows::new().function("w", takes)).await;
        let run = start_with(&test, &["a", "b"]).await;
        test.reach(&run, RunStatus::Waiting).await;
        let shown = run.inspect().await.unwrap().overview.waits;
        assert_eq!(shown[0].location.to_string(), "a:0");
        run.send_by_name("b", json(&2), None).await.unwrap();
        run.send_by_name("a", json(&1), None).await.unwrap();
        test.restart().await;
        let run = test.run("r").await.unwrap();
        let expected = (json(&1), "b".to_owned(), json(&2), true);
        assert_eq!(
            output::<(Payload, String, Payload, bool)>(&run).await,
            expected
        );
    });
}

// B408
#[test]
fn a_wait_for_no_name_fails_the_run() {
    for_each_store(async |store| {
        let takes = |ctx: Ctx<AnyEvent>, _: ()| async move {
            ctx.any_event_by_name(Vec::<String>::new()).await
        };
        let test = engine(store, Workflows::new().function("w", takes)).await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.code, ErrorCode::InvalidName.as_str());
    });
}
