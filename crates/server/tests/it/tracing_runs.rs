//! The traces of runs as a collector receives them. The collector of these tests listens on a
//! socket and keeps all requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use everstep::journal::Body;
use everstep::operation::{StepContext, TraceParent};
use everstep::schemars::{self, JsonSchema};
use everstep::{AnyEvent, Ctx, Engine, Event, Payload, Result, Workflows};
use everstep_server::{Access, Connections, Options, TraceExporter, TraceOptions, router, serve};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::{JSON, send};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval;

impl Event for Approval {
    const NAME: &'static str = "approval";
}

async fn done(value: u32) -> Result<u32> {
    Ok(value)
}

/// Returns the id of the span of its own step.
async fn order(ctx: Ctx<AnyEvent>, (): ()) -> Result<Option<TraceParent>> {
    ctx.step("reserve", || done(1)).await?;
    ctx.event::<Approval>().await?;
    ctx.child_by_name("ship", Payload::null()).await?;
    ctx.step_with("charge", charge).await
}

async fn charge(step: StepContext) -> Result<Option<TraceParent>> {
    Ok(step.traceparent())
}

async fn ship(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.step("pack", || done(2)).await
}

/// A collector that rejects the first request and keeps the others.
#[derive(Clone, Default)]
struct Collector {
    requests: Arc<Mutex<Vec<Value>>>,
    refused: Arc<Mutex<bool>>,
}

impl Collector {
    async fn open(&self) -> (String, oneshot::Sender<()>) {
        async fn take(State(kept): State<Collector>, request: Bytes) -> StatusCode {
            if !std::mem::replace(&mut *kept.refused.lock().unwrap(), true) {
                return StatusCode::SERVICE_UNAVAILABLE;
            }
            let request = serde_json::from_slice(&request).unwrap();
            kept.requests.lock().unwrap().push(request);
            StatusCode::OK
        }
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (end, ended) = oneshot::channel();
        tokio::spawn(serve(listener, router, Connections::default(), async {
            let _ = ended.await;
        }));
        (address, end)
    }

    /// Returns all spans by name.
    fn spans(&self) -> BTreeMap<String, Value> {
        let requests = self.requests.lock().unwrap();
        let spans = requests.iter().flat_map(|request| {
            let scope = &request["resourceSpans"][0]["scopeSpans"][0];
            scope["spans"].as_array().unwrap().clone()
        });
        let by_name = |span: Value| (span["name"].as_str().unwrap().to_owned(), span);
        spans.map(by_name).collect()
    }
}

async fn open(directory: &std::path::Path) -> Engine {
    let engine = Engine::open(directory).workflows(
        Workflows::new()
            .function("order", order)
            .function("ship", ship),
    );
    engine.start().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_of_a_run_is_complete_across_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    let run = engine.start_by_name("order", Payload::null()).id("o-1");
    let mut records = run.await.unwrap().records().await.unwrap();
    while records
        .next()
        .await
        .unwrap()
        .unwrap()
        .record
        .body
        .type_name()
        != "waiting"
    {}
    drop(records);
    engine.shutdown().await;
    drop(engine);

    let collector = Collector::default();
    let (address, _open) = collector.open().await;
    let engine = open(directory.path()).await;
    let exporter = TraceExporter::start(&engine, TraceOptions::to(address)).unwrap();
    let run = engine.run("o-1").await.unwrap();
    run.send_by_name("approval", Payload::null(), None)
        .await
        .unwrap();
    let result = run.wait_json().await.unwrap();
    let charged: TraceParent = result.decode().unwrap();
    tokio::time::timeout(Duration::from_secs(30), exporter.stop())
        .await
        .unwrap();

    let spans = collector.spans();
    let above = [
        ("order", None),
        ("ship", Some("child ship")),
        ("child ship", Some("order")),
        ("step charge", Some("order")),
        ("step pack", Some("ship")),
        ("step reserve", Some("order")),
        ("wait approval", Some("order")),
    ];
    assert_eq!(spans.len(), above.len(), "{:?}", spans.keys());
    for (name, above) in above {
        let (span, above) = (&spans[name], above.map(|above| &spans[above]["spanId"]));
        assert_eq!(span["traceId"], spans["order"]["traceId"], "{name}");
        assert_eq!(span.get("parentSpanId"), above, "{name}");
        assert_eq!(span["status"]["code"], 1, "{name}");
    }
    let charge = &spans["step charge"];
    assert_eq!(charge["spanId"], charged.span.to_string());
    assert_eq!(charge["traceId"], charged.trace.to_string());
}

#[tokio::test]
async fn a_run_started_over_http_joins_the_trace_of_its_caller() {
    let engine = Engine::in_memory().workflows(Workflows::new().function("ship", ship));
    let engine = engine.start().await.unwrap();
    let mut options = Options::default();
    options.access = Access::Open;
    let server = router(&engine, options);
    let above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let headers = [JSON, ("traceparent", above)];
    let body = r#"{"type":"ship","id":"s-1"}"#;
    send(&server, "POST", "/workflows", &headers, body).await;
    let journal = engine.run("s-1").await.unwrap().journal().await.unwrap();
    let Body::Created(created) = &journal[0].record.body else {
        panic!("{:?}", journal[0]);
    };
    assert_eq!(created.trace, Some(above.parse().unwrap()));
}
