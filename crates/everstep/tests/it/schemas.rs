//! JSON schemas made from the types a workflow declares.

use everstep::{Accepts, Body, Ctx, Declare, Event, Name, Payload, Result, Rpc, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::support::for_each_store;

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

#[derive(Serialize)]
struct Approve;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Decision {
    approved: bool,
}

impl Rpc for Approve {
    const METHOD: &'static str = "approve";
    type Answer = Decision;
}

struct Expense;

impl Accepts<Withdrawn> for Expense {}

impl Workflow for Expense {
    const NAME: &'static str = "expense";
    type Input = Claim;
    type Output = bool;

    fn declare(declare: &mut Declare<Self>) {
        declare
            .event_with_schema::<Withdrawn>()
            .rpc_with_schema::<Approve>()
            .input_with_schema()
            .output_with_schema();
    }

    async fn run(&self, ctx: Ctx<Self>, _: Claim) -> Result<bool> {
        Ok(ctx.rpc(Approve).await?.approved)
    }
}

fn property_type(schema: &Payload, property: &str) -> Value {
    let schema: Value = schema.decode().unwrap();
    schema["properties"][property]["type"].clone()
}

#[test]
fn declared_types_have_schemas_and_questions_carry_theirs() {
    for_each_store(async |store| {
        let test = store.engine().workflow(Expense).start().await;
        let declaration = test.declaration(&Name::new("expense").unwrap()).unwrap();
        assert_eq!(
            property_type(declaration.input_schema().unwrap(), "amount"),
            "integer"
        );
        let event = declaration.event_schema("withdrawn").unwrap();
        assert_eq!(property_type(event, "reason"), "string");
        let output: Value = declaration.output_schema().unwrap().decode().unwrap();
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
        let asked = journal.iter().find_map(|entry| match &entry.record.body {
            Body::RpcRequested(asked) => asked.schema.clone(),
            _ => None,
        });
        assert_eq!(property_type(&asked.unwrap(), "approved"), "boolean");
    });
}
