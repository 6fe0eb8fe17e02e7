//! Runs the demo workflows once, in memory, and prints their results. `everstep dev` runs them on
//! disk.

use everstep::{Engine, millis, secs};
use everstep_demo::expense::{ApproveExpense, Expense, ExpenseDecision, ExpenseInput};
use everstep_demo::hello::{Hello, HelloInput};
use everstep_demo::payment::{Approval, Payment, PaymentInput};
use everstep_demo::{Gateway, Pace};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let pace = Pace {
        work: millis(10),
        cool_off: millis(100),
        approval: secs(30),
        refund_window: millis(100),
    };
    let builder = everstep_demo::register(Engine::in_memory(), pace, Gateway::reliable());
    let engine = builder.development(true).start().await?;

    let name = "Ada".to_owned();
    let greeting = engine.start_and_wait::<Hello>(&HelloInput { name }).await?;
    println!("hello    {greeting:?}");

    let receipt = pay(&engine).await?;
    println!("payment  {receipt}");

    let result = submit(&engine).await?;
    println!("expense  {result}");

    engine.shutdown().await;
    Ok(())
}

async fn pay(engine: &Engine) -> Result<String, Failure> {
    let customer = "ada".to_owned();
    let amount = 4_200;
    let input = PaymentInput { customer, amount };
    let run = engine.start::<Payment>(&input).id("payment-1").await?;
    let reviewer = "grace".to_owned();
    let approved = true;
    // The run does not wait for the event yet. The event is kept until it does.
    run.send(&Approval { approved, reviewer }).await?;
    Ok(format!("{:?}", run.wait().await?))
}

async fn submit(engine: &Engine) -> Result<String, Failure> {
    let input = ExpenseInput {
        amount: 1_500,
        description: "Team dinner".to_owned(),
        submitted_by: "alice@example.com".to_owned(),
    };
    let run = engine.start::<Expense>(&input).id("expense-1").await?;
    let mut records = run.records().await?;
    while let Some(entry) = records.next().await? {
        if let everstep::journal::Body::RpcRequested(question) = entry.record.body {
            let decision = ExpenseDecision {
                approved: true,
                approver_notes: Some("Enjoy".to_owned()),
            };
            run.answer::<ApproveExpense>(&question.rpc_id, &decision)
                .await?;
        }
    }
    Ok(format!("{:?}", run.wait().await?))
}
