//! Feeds: the records of all runs as streams, read over HTTP and by the client, and webhooks on
//! them.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post as on_post;
use everstep::testing::virtual_time;
use everstep::{
    AnyEvent, Client, Ctx, Engine, Error, Payload, RecordFeed, Result, Workflows, secs,
};
use everstep_protocol::access::{CreateKey, Scope};
use everstep_server::{Connections, Keys, Options, router};
use everstep_store::MemoryStore;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::listening::listen;
use crate::support::{JSON, open, send, store};

async fn emits_twice(ctx: Ctx<AnyEvent>, topic: String) -> Result<()> {
    ctx.emit(&topic, &1)?;
    ctx.sleep("short", secs(1)).await?;
    ctx.emit(&topic, &2)
}

async fn fails(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let charge = || async { Err::<(), _>(Error::fatal("card declined")) };
    ctx.step("charge", charge).await
}

async fn engine() -> Engine {
    engine_on(store()).await
}

async fn engine_on(store: MemoryStore) -> Engine {
    let workflows = Workflows::new()
        .function("emits_twice", emits_twice)
        .function("fails", fails);
    let feeds = RecordFeed::ALL.iter().copied();
    let engine = Engine::on_store(Arc::new(store))
        .workflows(workflows)
        .feeds(feeds);
    engine.start().await.unwrap()
}

async fn run(engine: &Engine, workflow: &str, id: &str, input: &Value) {
    let input = Payload::from_value(input).unwrap();
    let started = engine.start_by_name(workflow, input).id(id).await.unwrap();
    let _ = started.wait_json().await;
}

fn feed(name: &str) -> String {
    format!("/v1/stream/__ds/feeds/{name}")
}

/// Reads a feed until it has this many messages.
async fn read(app: &Router, name: &str, count: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut offset = "-1".to_owned();
    while messages.len() < count {
        let address = format!("{}?live=long-poll&offset={offset}", feed(name));
        let page = send(app, "GET", &address, &[], "").await;
        offset = page.header("stream-next-offset").to_owned();
        if page.status == StatusCode::OK {
            messages.extend(page.json().as_array().unwrap().iter().cloned());
        }
    }
    messages
}

// B489
#[test]
fn the_feed_of_records_contains_every_record_of_every_run_in_order() {
    virtual_time(async {
        let engine = engine().await;
        let app = router(&engine, open());
        run(&engine, "emits_twice", "a", &json!("x")).await;
        run(&engine, "fails", "b", &Value::Null).await;
        let mut count = 0;
        let mut journals = Vec::new();
        for id in ["a", "b"] {
            let address = format!("/v1/stream/workflows/{id}?offset=-1");
            let journal = send(&app, "GET", &address, &[], "").await.json();
            count += journal.as_array().unwrap().len();
            journals.push((id, journal));
        }
        let messages = read(&app, "records", count).await;
        for (id, journal) in journals {
            let own = messages.iter().filter(|message| message["run"] == id);
            let (numbers, records): (Vec<_>, Vec<_>) = own
                .map(|message| (message["number"].clone(), message["record"].clone()))
                .unzip();
            assert_eq!(json!(records), journal, "{id}");
            let all: Vec<usize> = (0..records.len()).collect();
            assert_eq!(json!(numbers), json!(all), "{id}");
        }
        let head = send(&app, "HEAD", &feed("records"), &[], "").await;
        let next = head.header("stream-next-offset");
        let rest = format!("{}?offset={next}", feed("records"));
        assert_eq!(send(&app, "GET", &rest, &[], "").await.json(), json!([]));
        for method in ["PUT", "POST", "DELETE"] {
            let refused = send(&app, method, &feed("records"), &[JSON], "1").await;
            assert_eq!(refused.status, 403, "{method}");
            assert_eq!(refused.json()["code"], "reserved_stream");
        }
    });
}

// B489
#[tokio::test]
async fn a_feed_continues_after_a_restart_without_repetitions() {
    let store = store();
    let engine = engine_on(store.clone()).await;
    run(&engine, "fails", "a", &Value::Null).await;
    engine.shutdown().await;
    let engine = engine_on(store).await;
    let app = router(&engine, open());
    run(&engine, "fails", "b", &Value::Null).await;
    let mut journals = 0;
    for id in ["a", "b"] {
        let run = engine.run(id).await.unwrap();
        journals += run.journal().await.unwrap().len();
    }
    let messages = read(&app, "records", journals).await;
    let mut places: Vec<String> = messages
        .iter()
        .map(|message| format!("{} {}", message["run"], message["number"]))
        .collect();
    assert_eq!(places.len(), journals);
    places.sort();
    places.dedup();
    assert_eq!(places.len(), journals);
}

// B490
#[tokio::test]
async fn a_client_receives_what_workflows_emit_and_resumes() {
    let engine = engine().await;
    let key = CreateKey::new("reader", [Scope::Read]);
    let key = Keys::of(&engine).create(key, None).await.unwrap().key;
    let app = router(&engine, Options::default());
    let address = listen(app, Connections::default()).await;
    let remote = Client::connect(format!("http://{address}"));
    let remote = remote.key(key).open().unwrap();
    let local: &Client = &engine;
    let started = engine.start_by_name("emits_twice", Payload::from_value(&"x").unwrap());
    started.id("a").await.unwrap();
    for client in [local, &remote] {
        let mut first = client.feed(RecordFeed::Emits, None).await.unwrap();
        let emission = first.next().await.unwrap().emission().unwrap();
        assert_eq!(emission.run.as_str(), "a");
        assert_eq!(emission.topic.as_str(), "x");
        assert_eq!(emission.payload, Payload::from_value(&1).unwrap());
        let position = first.position().map(str::to_owned);
        let mut second = match &position {
            Some(position) => client
                .feed(RecordFeed::Emits, Some(position))
                .await
                .unwrap(),
            None => first,
        };
        let emission = second.next().await.unwrap().emission().unwrap();
        assert_eq!(emission.payload, Payload::from_value(&2).unwrap());
    }
}

/// Serves a webhook that responds with 200, but to the first call with 500.
async fn webhook() -> (String, mpsc::UnboundedReceiver<Value>) {
    let (send, receive) = mpsc::unbounded_channel();
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let calls = std::sync::Arc::new(calls);
    let hook = move |body: String| {
        send.send(serde_json::from_str(&body).unwrap()).unwrap();
        let is_first = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        std::future::ready(match is_first {
            true => StatusCode::INTERNAL_SERVER_ERROR,
            false => StatusCode::OK,
        })
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let app = Router::new().route("/hook", on_post(hook));
    tokio::spawn(everstep_server::serve(
        listener,
        app,
        Connections::default(),
        std::future::pending(),
    ));
    (url, receive)
}

// B491
#[tokio::test]
async fn a_configured_webhook_receives_each_failure_until_it_accepts_it() {
    let (url, mut calls) = webhook().await;
    let engine = engine().await;
    let mut options = open();
    options.loopback_only = true;
    options.failure_webhooks = vec![url];
    let app = router(&engine, options);
    // The subscription begins at the end of the feed.
    let subscribed = || async {
        let counted = send(&app, "GET", &feed("failures"), &[], "").await;
        counted.status == 200
    };
    while !subscribed().await {
        tokio::task::yield_now().await;
    }
    run(&engine, "fails", "b", &Value::Null).await;
    let (first, again) = (calls.recv().await.unwrap(), calls.recv().await.unwrap());
    for call in [&first, &again] {
        let failures = call["streams"][0]["messages"].as_array().unwrap();
        let kinds: Vec<&Value> = failures
            .iter()
            .map(|failure| &failure["record"]["type"])
            .collect();
        assert_eq!(*kinds[0], "workflow:step_failed", "{call}");
        let error = &failures[0]["record"]["value"]["error"]["message"];
        assert_eq!(*error, "card declined", "{call}");
        assert_eq!(failures[0]["run"], "b");
    }
}

// B489
#[tokio::test]
async fn a_key_with_limits_reads_no_feed() {
    let engine = engine().await;
    let app = router(&engine, Options::default());
    let limited = CreateKey {
        workflows: vec!["fails".to_owned()],
        ..CreateKey::new("limited", [Scope::Read])
    };
    let keys = Keys::of(&engine);
    let all = CreateKey::new("reader", [Scope::Read]);
    let all = keys.create(all, None).await.unwrap().key;
    let limited = keys.create(limited, None).await.unwrap().key;
    for (key, status) in [(all, 200), (limited, 403)] {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str())];
        let answer = send(&app, "GET", &feed("records"), &headers, "").await;
        assert_eq!(answer.status, status);
    }
}

// B492
#[tokio::test]
async fn a_pattern_over_journals_is_refused_and_names_the_feeds() {
    let engine = engine().await;
    let app = router(&engine, open());
    let subscription = "/v1/stream/__ds/subscriptions/s";
    let body = json!({"type": "pull-wake", "pattern": "workflows/**", "wake_stream": "wakes"});
    let refused = send(&app, "PUT", subscription, &[JSON], body.to_string()).await;
    assert_eq!(refused.status, 400);
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("__ds/feeds/records"), "{message}");

    send(&app, "PUT", "/v1/stream/wakes", &[JSON], "").await;
    let body = json!({
        "type": "pull-wake", "streams": ["__ds/feeds/records"], "wake_stream": "wakes",
    });
    let created = send(&app, "PUT", subscription, &[JSON], body.to_string()).await;
    assert_eq!(created.status, 201, "{created:?}");
    run(&engine, "fails", "b", &Value::Null).await;
    let wakes = "/v1/stream/wakes?offset=-1&live=long-poll";
    let wake = send(&app, "GET", wakes, &[], "").await.json();
    assert_eq!(wake[0]["stream"], "__ds/feeds/records");
}
