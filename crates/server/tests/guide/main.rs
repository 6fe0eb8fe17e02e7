//! Executes the guide of the HTTP API: sends every request by the shell to a real server, in order,
//! and compares the responses with those in the guide.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

#[path = "../../examples/server/order.rs"]
mod order;

use std::process::Command;

use everstep::{Engine, Workflows};
use everstep_server::{Access, Connections, Options, router, serve};
use order::Order;
use serde_json::Value;
use tokio::net::TcpListener;

const GUIDE: &str = include_str!("../../../../docs/guides/http-api.md");
/// The address of the server in the guide.
const ADDRESS: &str = "localhost:4437";
/// The placeholder for any value.
const ANYTHING: &str = "…";

/// Returns the requests of the guide with their responses, if the guide shows them.
fn requests() -> Vec<(&'static str, Option<Value>)> {
    let mut requests: Vec<(&str, Option<Value>)> = Vec::new();
    for block in GUIDE.split("```shell\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => requests.push((command, None)),
                None => requests.last_mut().unwrap().1 = Some(serde_json::from_str(line).unwrap()),
            }
        }
    }
    requests
}

/// Returns whether a response contains everything that the guide shows.
fn fits(shown: &Value, answer: &Value) -> bool {
    match (shown, answer) {
        (Value::String(text), _) if text == ANYTHING => true,
        (Value::Object(shown), Value::Object(answer)) => shown
            .iter()
            .all(|(name, value)| answer.get(name).is_some_and(|answer| fits(value, answer))),
        (Value::Array(shown), Value::Array(answer)) => {
            let is_open = shown.last().is_some_and(|last| last == ANYTHING);
            let shown = &shown[..shown.len() - usize::from(is_open)];
            (is_open || shown.len() == answer.len())
                && shown.len() <= answer.len()
                && shown
                    .iter()
                    .zip(answer)
                    .all(|(shown, answer)| fits(shown, answer))
        }
        (shown, answer) => shown == answer,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_requests_of_the_guide_get_the_documented_responses() {
    let engine = Engine::in_memory()
        .workflows(Workflows::new().workflow(Order))
        .start()
        .await
        .unwrap();
    let mut options = Options::default();
    options.access = Access::Open;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let app = router(&engine, options);
    tokio::spawn(serve(
        listener,
        app,
        Connections::default(),
        std::future::pending(),
    ));
    let requests = requests();
    assert!(requests.len() > 15, "the guide has too few requests");
    for (command, shown) in requests {
        let script = command.replace(ADDRESS, &address);
        let done = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(done.status.success(), "{command}: {done:?}");
        if let Some(shown) = shown {
            let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
            assert!(fits(&shown, &answer), "{command}\n{answer:#}");
        }
    }
    engine.shutdown().await;
}
