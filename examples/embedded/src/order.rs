//! The workflow: charge, wait until the parcel is handed over, thank.

use everstep::{Accepts, Ctx, Declare, Event, Result, Workflow, days};
use serde::{Deserialize, Serialize};

/// What somebody wants.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wish {
    /// The thing.
    pub(crate) item: String,
    /// Who wants it.
    pub(crate) customer: String,
}

/// The parcel was handed over; the customer says so.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Delivered {
    /// What they have to say.
    pub(crate) comment: String,
}

impl Event for Delivered {
    const NAME: &'static str = "delivered";
}

/// An order, from the wish to the thanks.
#[derive(Debug)]
pub(crate) struct Order;

impl Accepts<Delivered> for Order {}

impl Workflow for Order {
    const NAME: &'static str = "order";
    type Input = Wish;
    type Output = String;

    fn declare(declare: &mut Declare<Self>) {
        declare.event::<Delivered>();
    }

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
