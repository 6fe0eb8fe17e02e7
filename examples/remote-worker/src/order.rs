//! The workflow: an order that is paid, approved by a person and shipped. It knows nothing of where it is executed.

use everstep::{Accepts, Ctx, Declare, Error, Event, Result, Workflow, secs};
use serde::{Deserialize, Serialize};

/// What is ordered.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) article: String,
    pub(crate) amount: u32,
}

/// A person's word.
#[derive(Serialize, Deserialize)]
pub(crate) struct Approval {
    pub(crate) by: String,
}

impl Event for Approval {
    const NAME: &'static str = "approval";
}

/// Pays, waits for approval, ships.
pub(crate) struct Fulfilment;

impl Accepts<Approval> for Fulfilment {}

impl Workflow for Fulfilment {
    const NAME: &'static str = "fulfilment";
    type Input = Order;
    type Output = String;

    fn declare(declare: &mut Declare<Self>) {
        declare.event::<Approval>();
    }

    async fn run(&self, ctx: Ctx<Self>, order: Order) -> Result<String> {
        let payment = ctx
            .step("pay", || async {
                println!("  worker: taking {} from the customer", order.amount);
                Ok::<_, Error>(format!("payment-of-{}", order.amount))
            })
            .undo(|payment: String| async move {
                println!("  worker: giving {payment} back");
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
