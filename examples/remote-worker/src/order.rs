//! The workflow: an order that is paid, approved by a person and shipped. It does not depend on
//! where it is executed.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Error, Event, Result, Workflow, interface, secs};
use serde::{Deserialize, Serialize};

/// The input of a run.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Order {
    pub(crate) article: String,
    pub(crate) amount: u32,
}

/// The approval of a person.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Approval {
    pub(crate) by: String,
}

impl Event for Approval {
    const NAME: &'static str = "approval";
}

/// Charges the order, waits for approval, and ships it.
pub(crate) struct Fulfilment;

interface!(pub FulfilmentInterface { events: Approval; });

impl Workflow for Fulfilment {
    const NAME: &'static str = "fulfilment";
    type Input = Order;
    type Output = String;
    type Interface = FulfilmentInterface;

    async fn run(&self, ctx: Ctx<Self>, order: Order) -> Result<String> {
        let payment = ctx
            .step("pay", || async {
                println!("  worker: charging {}", order.amount);
                Ok::<_, Error>(format!("payment-of-{}", order.amount))
            })
            .undo(|payment: String| async move {
                println!("  worker: refunding {payment}");
                Ok::<_, Error>(())
            })
            .await?;
        ctx.sleep("cool-off", secs(1)).await?;
        let approval = ctx.event::<Approval>().await?;
        let parcel = ctx
            .step("ship", || async {
                println!("  worker: shipping {}", order.article);
                Ok::<_, Error>(format!("{} to {}", order.article, approval.by))
            })
            .await?;
        Ok(format!("{parcel}, for {payment}"))
    }
}
