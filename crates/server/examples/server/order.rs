//! The workflow of the example.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Event, Rpc, Workflow, interface};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Reserves goods, waits for an approval, asks for a confirmation, and charges.
pub(crate) struct Order;

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct OrderInput {
    item: String,
    amount: u32,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Approval {
    by: String,
}

impl Event for Approval {
    const NAME: &'static str = "approval";
}

/// An event that the workflow does not wait for.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Comment(String);

impl Event for Comment {
    const NAME: &'static str = "comment";
}

#[derive(Serialize, JsonSchema)]
struct ConfirmOrder {
    item: String,
    amount: u32,
}

impl Rpc for ConfirmOrder {
    const METHOD: &'static str = "confirmOrder";
    type Answer = bool;
}

interface! {
    pub OrderInterface {
        events: Approval, Comment;
        rpcs: ConfirmOrder;
    }
}

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = OrderInput;
    type Output = String;
    type Interface = OrderInterface;

    async fn run(&self, ctx: Ctx<Self>, order: OrderInput) -> everstep::Result<String> {
        let OrderInput { item, amount } = order;
        ctx.set_row("orders", &item, &json!({"item": item, "stage": "new"}))?;
        let reserve = || async { Ok::<_, Error>(format!("reserved {amount} {item}")) };
        ctx.step("reserve", reserve).await?;
        let token = || async { Ok::<_, Error>("a card number".to_owned()) };
        ctx.step("tokenise", token).sensitive().await?;
        let approval = ctx.event::<Approval>().await?;
        ctx.set_row("orders", &item, &json!({"item": item, "stage": "approved"}))?;
        let question = ConfirmOrder {
            item: item.clone(),
            amount,
        };
        let stage = match ctx.rpc(question).await? {
            true => "confirmed",
            false => "refused",
        };
        ctx.set_row("orders", &item, &json!({"item": item, "stage": stage}))?;
        Ok(format!("{stage}, approved by {}", approval.by))
    }
}
