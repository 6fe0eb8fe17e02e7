//! Declared workflows: input and events that they do not accept are refused before they are stored.
//! Rpcs and their answers.
//!
//! Values that do not match a type are refused by the process that has the type, or by the server
//! of a worker, which has the schemas of its types.

use everstep::journal::Body;
use everstep::operation::RpcId;
use everstep::schemars::{self, JsonSchema};
use everstep::testing::TestEngine;
use everstep::{
    Ctx, ErrorCode, Event, Handle, Payload, Result, Rpc, RunStatus, Workflow, Workflows, hours,
    interface, minutes,
};
use serde::{Deserialize, Serialize};

use crate::support::{TestStore, for_each_store, json};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Approval {
    by: String,
}
impl Event for Approval {
    const NAME: &'static str = "approval";
}

#[derive(Serialize, JsonSchema)]
struct Confirm {
    amount: u32,
}
impl Rpc for Confirm {
    const METHOD: &'static str = "confirm";
    type Answer = bool;
}

struct Payment;
interface! {
    PaymentInterface {
        events: Approval;
        rpcs: Confirm;
    }
}

impl Workflow for Payment {
    const NAME: &'static str = "payment";
    type Input = u32;
    type Output = (String, Option<bool>);
    type Interface = PaymentInterface;

    async fn run(&self, ctx: Ctx<Self>, amount: u32) -> Result<(String, Option<bool>)> {
        let approval = ctx.event::<Approval>().await?;
        let confirmed = ctx.rpc(Confirm { amount }).timeout(hours(1)).await?;
        ctx.sleep("settle", hours(1)).await?;
        Ok((approval.by, confirmed))
    }
}

async fn payment(store: &TestStore) -> (TestEngine, Handle<Payment>) {
    let test = store
        .engine()
        .workflows(Workflows::new().workflow(Payment))
        .start()
        .await;
    let run = test.start::<Payment>(&100).id("p").await.unwrap();
    test.reach(&run, RunStatus::Waiting).await;
    (test, run)
}

/// A payment that waits for its confirmation.
async fn payment_with_open_rpc(store: &TestStore) -> (TestEngine, Handle<Payment>, RpcId) {
    let (test, run) = payment(store).await;
    run.send(&Approval {
        by: "ada".to_owned(),
    })
    .await
    .unwrap();
    test.advance(minutes(1)).await;
    let rpc = run.inspect().await.unwrap().overview.rpcs.remove(0).rpc_id;
    (test, run, rpc)
}

// B91, B92, B400
#[test]
fn events_that_are_not_declared_or_do_not_fit_are_refused_and_not_stored() {
    for_each_store(async |store| {
        let (_test, run) = payment(store).await;
        let before = run.journal().await.unwrap();
        let error = run
            .send_by_name("refund", json(&()), None)
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::EventNotAccepted);
        assert!(
            error.to_string().contains("it accepts: approval"),
            "{error}"
        );
        let error = run
            .send_by_name("approval", json(&7), None)
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        assert!(error.to_string().contains("approval"), "{error}");
        assert_eq!(run.journal().await.unwrap(), before);
        let sent = r#"{ "by" : "\u0061da",  "more": 1.50 }"#;
        let payload = Payload::from_json(sent).unwrap();
        run.send_by_name("approval", payload, None).await.unwrap();
        let journal = run.journal().await.unwrap();
        let stored = journal.iter().find_map(|entry| match &entry.record.body {
            Body::Event(event) => Some(event.payload.as_str()),
            _ => None,
        });
        assert_eq!(stored, Some(sent));
    });
}

// B194
#[test]
fn an_open_rpc_shows_its_method_and_arguments() {
    for_each_store(async |store| {
        let (_test, run, rpc) = payment_with_open_rpc(store).await;
        let open = run.inspect().await.unwrap().overview.rpcs;
        assert_eq!(
            (open.len(), open[0].method.as_str(), open[0].args.as_str()),
            (1, "confirm", r#"{"amount":100}"#)
        );
        let why = run.why().await.unwrap().to_string();
        assert!(
            why.contains(&format!("waits for an answer to `confirm` ({rpc})")),
            "{why}"
        );
    });
}

// B194
#[test]
fn the_first_answer_wins_and_later_ones_change_nothing() {
    for_each_store(async |store| {
        let (mut test, run, rpc) = payment_with_open_rpc(store).await;
        let (first, second) = tokio::join!(
            run.answer::<Confirm>(&rpc, &true),
            run.answer::<Confirm>(&rpc, &false)
        );
        first.unwrap();
        assert_eq!(second.unwrap_err().code(), ErrorCode::RpcNotOpen);
        test.restart().await;
        let run = test.run_of::<Payment>("p").await.unwrap();
        assert_eq!(
            run.answer::<Confirm>(&rpc, &false)
                .await
                .unwrap_err()
                .code(),
            ErrorCode::RpcNotOpen
        );
        assert_eq!(run.wait().await.unwrap(), ("ada".to_owned(), Some(true)));
        assert_eq!(test.journal(&run).await.count("rpc_answered"), 1);
        assert_eq!(
            run.answer::<Confirm>(&rpc, &false)
                .await
                .unwrap_err()
                .code(),
            ErrorCode::RpcNotOpen
        );
    });
}

// B194
#[test]
fn an_answer_after_the_run_moved_on_is_refused() {
    for_each_store(async |store| {
        let (mut test, run, rpc) = payment_with_open_rpc(store).await;
        test.advance(hours(1)).await;
        assert_eq!(
            run.answer::<Confirm>(&rpc, &true).await.unwrap_err().code(),
            ErrorCode::RpcNotOpen
        );
        drop(run);
        test.restart().await;
        let run = test.run_of::<Payment>("p").await.unwrap();
        assert_eq!(run.wait().await.unwrap(), ("ada".to_owned(), None));
        assert_eq!(test.journal(&run).await.count("rpc_answered"), 0);
    });
}

// B194
#[test]
fn an_answer_that_does_not_fit_is_refused_and_the_rpc_stays_open() {
    for_each_store(async |store| {
        let (test, run, rpc) = payment_with_open_rpc(store).await;
        let error = run.answer_json(&rpc, json(&"perhaps")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        assert_eq!(test.journal(&run).await.count("rpc_answered"), 0);
        test.answer_next::<Confirm>(&run, &false).await;
        assert_eq!(run.wait().await.unwrap(), ("ada".to_owned(), Some(false)));
    });
}

#[test]
fn an_rpc_that_was_never_made_accepts_no_answer() {
    for_each_store(async |store| {
        let (_test, run, _) = payment_with_open_rpc(store).await;
        let error = run
            .answer::<Confirm>(&RpcId("rpc_0000000000000000".into()), &true)
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::RpcNotOpen);
    });
}

#[test]
fn input_that_does_not_fit_starts_nothing() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Payment))
            .start()
            .await;
        let error = test
            .start_by_name("payment", json(&"much"))
            .id("p")
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        assert_eq!(
            test.run("p").await.unwrap_err().code(),
            ErrorCode::UnknownRun
        );
    });
}
