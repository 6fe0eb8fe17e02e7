//! A shop with its own routes and login, and the whole Everstep server mounted under `/flows`.
//!
//! ```text
//!   cargo run -p everstep-embedded              a customer orders a teapot, then the program exits
//!   cargo run -p everstep-embedded -- --serve   the shop keeps running at http://localhost:8080
//! ```
//!
//! [`order`] is the workflow, [`shop`] the application with its middleware, [`customer`] a client
//! that uses both over HTTP.

mod customer;
mod order;
mod shop;

use everstep::{Engine, Workflows};
use everstep_server::{Connections, serve};
use tokio::net::TcpListener;

use order::Order;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let stays_open = std::env::args().any(|arg| arg == "--serve");
    let engine = Engine::in_memory()
        .workflows(Workflows::new().workflow(Order))
        .start()
        .await?;
    let port = if stays_open { 8080 } else { 0 };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let url = format!("http://localhost:{}", listener.local_addr()?.port());
    println!("the shop listens at {url}, with its flows at {url}/flows");

    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    let app = shop::app(&engine);
    // Any server for axum applications works; this one limits connections.
    let open = tokio::spawn(serve(listener, app, Connections::default(), async {
        let _ = closed.await;
    }));
    match stays_open {
        true => tokio::signal::ctrl_c().await?,
        false => customer::buys_a_teapot(&url).await?,
    }
    let _ = close.send(());
    open.await?;
    engine.shutdown().await;
    Ok(())
}
