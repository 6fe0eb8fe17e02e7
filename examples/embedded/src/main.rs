//! A shop with its own routes and its own idea of who is logged in, and the whole server of Everstep mounted under `/flows`.
//!
//! ```text
//!   cargo run -p everstep-embedded              somebody buys a teapot, and it ends
//!   cargo run -p everstep-embedded -- --serve   the shop stays open, at http://localhost:8080
//! ```
//!
//! [`order`] is the workflow, [`shop`] the application with its middleware, [`customer`] somebody who uses both over HTTP.

mod customer;
mod order;
mod shop;

use everstep::Engine;
use everstep_server::{Connections, serve};
use tokio::net::TcpListener;

use order::Order;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let stays_open = std::env::args().any(|arg| arg == "--serve");
    let engine = Engine::in_memory().workflow(Order).start().await?;
    let port = if stays_open { 8080 } else { 0 };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let url = format!("http://localhost:{}", listener.local_addr()?.port());
    println!("the shop is open at {url}, its flows at {url}/flows");

    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    let app = shop::app(&engine);
    // Any way to serve an axum application will do; this one brings limits on connections.
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
