//! The workflow: charge, wait for the delivery, send thanks.

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Event, Result, Workflow, days, interface};
use serde::{Deserialize, Serialize};

/// The input of a run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Wish {
    /// The ordered item.
    pub(crate) item: String,
    /// The name of the customer.
    pub(crate) customer: String,
}

/// The customer confirms the delivery.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Delivered {
    /// A comment.
    pub(crate) comment: String,
}

impl Event for Delivered {
    const NAME: &'static str = "delivered";
}

/// An order, from the purchase to the delivery.
#[derive(Debug)]
pub(crate) struct Order;

interface!(pub OrderInterface { events: Delivered; });

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = Wish;
    type Output = String;
    type Interface = OrderInterface;

    async fn run(&self, ctx: Ctx<Self>, wish: Wish) -> Result<String> {
        let charge = ctx.step("charge", || async {
            Ok::<_, everstep::Error>(format!("charge for {}", wish.item))
        });
        let charge = charge.await?;
        let delivered = ctx.event::<Delivered>().timeout(days(14)).await?;
        Ok(match delivered {
            Some(delivered) => format!("thank you, {}: {}", wish.customer, delivered.comment),
            None => format!("{charge} is given back to {}", wish.customer),
        })
    }
}
