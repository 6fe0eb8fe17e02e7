//! A workflow that survives `kill -9`. Run it, kill it in the middle, run it again: it continues
//! where it was.

use std::time::Duration;

use everstep::schemars::{self, JsonSchema};
use everstep::{Ctx, Engine, Result, Workflow, Workflows, secs};
use serde::{Deserialize, Serialize};

/// What a run is started with.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    item: String,
    amount: u32,
}

/// The workflow: a plain type, which holds what its steps need. This one needs nothing.
struct Checkout;

impl Workflow for Checkout {
    const NAME: &'static str = "checkout";
    type Input = Order;
    type Output = String;
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, order: Order) -> Result<String> {
        // A step's result is written down once. It never runs again, not even after a crash.
        let charge = ctx.step("charge", || charge(order.amount)).await?;

        // A durable sleep. It may last a month; the process may end meanwhile.
        ctx.sleep("let it cool", secs(3)).await?;

        let parcel = ctx.step("ship", || ship(&order.item)).await?;
        Ok(format!("{} sent as {parcel}, paid by {charge}", order.item))
    }
}

async fn charge(amount: u32) -> Result<String> {
    println!("charging {amount}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(format!("charge-{amount}"))
}

async fn ship(item: &str) -> Result<String> {
    println!("shipping {item}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(format!("parcel-{}", item.len()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Everything is kept in one directory. Any will do.
    let engine = Engine::open("target/getting-started")
        .workflows(Workflows::new().workflow(Checkout))
        .start()
        .await?;

    let item = "a teapot".to_owned();
    let order = Order { item, amount: 42 };

    // The same id is the same run: started once, however often this program is.
    let run = engine.start::<Checkout>(&order).id("order-1").await?;
    println!("{} is {}", run.id(), run.status().await?);

    println!("{}", run.wait().await?);
    engine.shutdown().await;
    Ok(())
}
