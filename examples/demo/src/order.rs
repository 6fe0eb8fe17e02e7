//! An order whose steps are undone if it fails or is cancelled: the goods are released, the money
//! is refunded.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Event, Result, Rpc, Workflow, interface};
use serde::{Deserialize, Serialize};

use crate::pace::Pace;

/// Reserves goods, waits for an approval, charges, and asks the customer for a confirmation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// Duration of the steps.
    pub pace: Pace,
}

/// The input of a run: `{"item": "tea", "amount": 3}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderInput {
    /// What to order.
    pub item: String,
    /// How many of them.
    pub amount: u32,
}

/// The shop approves the order: `{"by": "ada"}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderApproval {
    /// The person who approves.
    pub by: String,
}

impl Event for OrderApproval {
    const NAME: &'static str = "approval";
}

/// The question to the customer. The answer is `true` or `false`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfirmOrder {
    /// What is ordered.
    pub item: String,
    /// How many of them.
    pub amount: u32,
}

impl Rpc for ConfirmOrder {
    const METHOD: &'static str = "confirmOrder";
    type Answer = bool;
}

interface! {
    pub OrderInterface {
        events: OrderApproval;
        rpcs: ConfirmOrder;
    }
}

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = OrderInput;
    type Output = String;
    type Interface = OrderInterface;

    async fn run(&self, ctx: Ctx<Self>, order: OrderInput) -> Result<String> {
        let OrderInput { item, amount } = order;
        show(&ctx, &item, "new")?;

        // If the run fails or is cancelled later, the engine calls the undo with the step's result.
        // An undo owns what it captures, because it may run in another process.
        let pace = self.pace;
        ctx.step("reserve", || pace.work(format!("reserved {amount} {item}")))
            .undo(move |reserved| pace.work(format!("cancelled: {reserved}")))
            .await?;

        // The journal contains the result of a sensitive step. Readers see that it is hidden.
        let card = ctx
            .step("tokenise", || pace.work("card-1234".to_owned()))
            .sensitive()
            .await?;

        let approval = ctx.event::<OrderApproval>().await?;
        show(&ctx, &item, "approved")?;

        ctx.step("charge", || {
            pace.work(format!("charged a card of {} digits", card.len()))
        })
        .undo(move |charged| pace.work(format!("refunded: {charged}")))
        .await?;

        let question = ConfirmOrder {
            item: item.clone(),
            amount,
        };
        if !ctx.rpc(question).await? {
            show(&ctx, &item, "refused")?;
            // A run that fails undoes its steps, the last one first.
            return Err(Error::fatal("the customer refused the order"));
        }
        show(&ctx, &item, "confirmed")?;
        Ok(format!("confirmed, approved by {}", approval.by))
    }
}

/// Sets the row `orders/<item>`. A browser that follows the run sees the change.
fn show(ctx: &Ctx<Order>, item: &str, stage: &str) -> Result<()> {
    #[derive(Serialize)]
    struct OrderRow<'a> {
        item: &'a str,
        stage: &'a str,
    }
    ctx.set_row("orders", item, &OrderRow { item, stage })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everstep::inspect::StepStatus;
    use everstep::testing::{VirtualRuntime, virtual_time};
    use everstep::{Engine, Handle, RunStatus, Workflows, secs};

    use super::*;

    /// Starts an order and waits until it asks for a confirmation.
    async fn asked() -> (Engine, Handle<Order>) {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let builder = Engine::in_memory().runtime(runtime).development(true);
        let engine = builder
            .workflows(Workflows::new().workflow(Order::default()))
            .start()
            .await
            .unwrap();
        let item = "tea".to_owned();
        let input = OrderInput { item, amount: 3 };
        let run = engine.start::<Order>(&input).await.unwrap();
        let by = "ada".to_owned();
        run.send(&OrderApproval { by }).await.unwrap();
        run.wait_within(secs(1)).await.unwrap_err();
        (engine, run)
    }

    async fn answer(run: &Handle<Order>, answer: bool) {
        let rpcs = run.inspect().await.unwrap().overview.rpcs;
        run.answer::<ConfirmOrder>(&rpcs[0].rpc_id, &answer)
            .await
            .unwrap();
    }

    /// Returns the names of the steps that were undone.
    async fn undone(run: &Handle<Order>) -> Vec<String> {
        let steps = run.inspect().await.unwrap().overview.steps;
        let undone = steps
            .iter()
            .filter(|step| step.status == StepStatus::Undone);
        undone.map(|step| step.location.name.to_string()).collect()
    }

    #[test]
    fn a_confirmed_order_is_kept() {
        virtual_time(async {
            let (engine, run) = asked().await;
            answer(&run, true).await;
            assert_eq!(run.wait().await.unwrap(), "confirmed, approved by ada");
            assert!(undone(&run).await.is_empty());
            engine.shutdown().await;
        });
    }

    #[test]
    fn a_refused_order_fails_and_is_undone() {
        virtual_time(async {
            let (engine, run) = asked().await;
            answer(&run, false).await;
            let error = run.wait().await.unwrap_err();
            assert!(error.to_string().contains("refused"), "{error}");
            assert_eq!(run.status().await.unwrap(), RunStatus::Failed);
            assert_eq!(undone(&run).await, ["reserve", "charge"]);
            engine.shutdown().await;
        });
    }

    #[test]
    fn a_cancelled_order_is_undone() {
        virtual_time(async {
            let (engine, run) = asked().await;
            run.cancel().await.unwrap();
            run.wait().await.unwrap_err();
            assert_eq!(run.status().await.unwrap(), RunStatus::Cancelled);
            assert_eq!(undone(&run).await, ["reserve", "charge"]);
            engine.shutdown().await;
        });
    }
}
