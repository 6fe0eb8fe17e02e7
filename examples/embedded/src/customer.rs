//! A customer who orders a teapot, gets a token for that order, and follows it.

use std::time::Duration;

use anyhow::{Context, ensure};
use axum::http::HeaderName;
use everstep_protocol::access::{MintToken, MintedToken, View};
use everstep_protocol::client::{Call, Connection};
use everstep_protocol::workflow::{EventAnswer, RunView};
use serde_json::{Value, json};

const STAFF: HeaderName = HeaderName::from_static("x-staff");

/// Orders over HTTP from start to end.
pub(crate) async fn buys_a_teapot(shop: &str) -> anyhow::Result<()> {
    let shop = Connection::to(shop)?;
    let wish = json!({"item": "a teapot", "customer": "Ada"});
    let placed: Value = shop.post("orders/teapot-1", &wish).await?;
    println!("ordered: {placed}");

    // Without a token, the customer has no access to the flows.
    let refused = shop.get::<Value>("flows/workflows/teapot-1").await;
    println!(
        "without a token: {}",
        refused.err().context("the flows are open")?
    );

    let token = token(&shop).await?;
    let hers = shop.clone().with_key(&token.token.into())?;
    let delivered = json!({"comment": "a lovely teapot"});
    let sent: EventAnswer = hers
        .post("flows/workflows/teapot-1/events/delivered", &delivered)
        .await?;
    println!("confirmed the delivery: {:?}", sent.outcome);

    let wait = Call::get("flows/workflows/teapot-1?wait=30s");
    let wait = wait.timeout(Duration::from_secs(60));
    let order: RunView = hers.send(wait).await?.json()?;
    let result = order.result.context("the order has no result")?;
    println!("{} is {}: {}", order.id, order.status, result.as_str());
    ensure!(result.as_str().contains("a lovely teapot"));

    // The token gives access to this order only.
    let others = hers.get::<Value>("flows/workflows").await;
    println!(
        "all orders: {}",
        others
            .err()
            .context("the token gives access to all orders")?
    );
    Ok(())
}

/// The shop's staff requests the token for the customer. A real shop would do this at login.
async fn token(shop: &Connection) -> anyhow::Result<MintedToken> {
    let request = MintToken {
        run: "teapot-1".to_owned(),
        view: View::Client,
        rpcs: Vec::new(),
        events: vec!["delivered".to_owned()],
        subject: Some("customer".to_owned()),
        lifetime: Some("5m".to_owned()),
    };
    let call = Call::post("flows/tokens").json(&request)?;
    let answer = shop.send(call.header(STAFF, "grace")).await?;
    Ok(answer.json()?)
}
