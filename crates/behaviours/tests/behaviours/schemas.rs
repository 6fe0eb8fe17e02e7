//! JSON schemas made from the types of a workflow.

use everstep::journal::Body;
use everstep::schemars::{self, JsonSchema};
use everstep::{
    Ctx, ErrorCode, Event, Name, Payload, Result, Rpc, RunStatus, Workflow, Workflows, interface,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::support::{for_each_store, for_each_store_in_process, json};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Claim {
    amount: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Withdrawn {
    reason: String,
}

impl Event for Withdrawn {
    const NAME: &'static str = "withdrawn";
}

#[derive(Serialize, JsonSchema)]
struct Approve {
    limit: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Decision {
    approved: bool,
}

impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = Decision;
}

struct Expense;

interface! {
    ExpenseInterface {
        events: Withdrawn;
        rpcs: Approve;
    }
}

impl Workflow for Expense {
    const NAME: &'static str = "expense";
    type Input = Claim;
    type Output = bool;
    type Interface = ExpenseInterface;

    async fn run(&self, ctx: Ctx<Self>, _: Claim) -> Result<bool> {
        Ok(ctx.rpc(Approve { limit: 100 }).await?.approved)
    }
}

fn property_type(schema: Option<&Payload>, property: &str) -> Value {
    let schema: Value = schema.unwrap().decode().unwrap();
    schema["properties"][property]["type"].clone()
}

#[test]
fn payloads_that_do_not_fit_a_schema_are_refused_before_they_are_stored() {
    for_each_store(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Expense))
            .start()
            .await;
        let bad = test.start_by_name("expense", json(&"much")).await;
        assert_eq!(bad.unwrap_err().code(), ErrorCode::SchemaMismatch);
        let claim = Claim { amount: 3 };
        let run = test.start::<Expense>(&claim).id("r").await.unwrap();
        test.reach(&run, RunStatus::Waiting).await;
        for (event, payload, code) in [
            ("paid", json(&1), ErrorCode::EventNotAccepted),
            ("withdrawn", json(&1), ErrorCode::SchemaMismatch),
        ] {
            let error = run.send_by_name(event, payload, None).await.unwrap_err();
            assert_eq!(error.code(), code, "{event}");
        }
        let rpc = run.inspect().await.unwrap().overview.rpcs.remove(0).rpc_id;
        let bad = run.answer_json(&rpc, json(&"perhaps")).await.unwrap_err();
        assert_eq!(bad.code(), ErrorCode::SchemaMismatch);
        test.answer_next::<Approve>(&run, &Decision { approved: true })
            .await;
        assert!(run.wait().await.unwrap());
    });
}

#[test]
fn declared_types_and_rpcs_have_schemas() {
    for_each_store_in_process(async |store| {
        let test = store
            .engine()
            .workflows(Workflows::new().workflow(Expense))
            .start()
            .await;
        let declaration = test.declaration(&Name::new("expense").unwrap()).unwrap();
        let described = declaration.describe();
        assert_eq!(property_type(described.input.as_ref(), "amount"), "integer");
        let events = described.events.unwrap();
        let event = events["withdrawn"].schema.as_ref();
        assert_eq!(property_type(event, "reason"), "string");
        let rpc = &described.rpcs["approve"];
        assert_eq!(property_type(rpc.args.as_ref(), "limit"), "integer");
        assert_eq!(property_type(rpc.schema.as_ref(), "approved"), "boolean");
        let output: Value = described.output.unwrap().decode().unwrap();
        assert_eq!(output["type"], "boolean");

        let run = test
            .start::<Expense>(&Claim { amount: 3 })
            .id("r")
            .await
            .unwrap();
        test.answer_next::<Approve>(&run, &Decision { approved: true })
            .await;
        assert!(run.wait().await.unwrap());
        let journal = run.journal().await.unwrap();
        let schema = journal.iter().find_map(|entry| match &entry.record.body {
            Body::RpcRequested(rpc) => rpc.schema.clone(),
            _ => None,
        });
        assert_eq!(property_type(schema.as_ref(), "approved"), "boolean");
    });
}
