//! Keys of workers: they allow only the workflows they name, only sessions with such workflows, and
//! only commands to runs of such workflows.

use axum::Router;
use everstep::{Ctx, Worker, Workflows};
use everstep_engine::{Engine, Start};
use everstep_model::{Name, Payload, RunId, RunStatus};
use everstep_protocol::access::{CreateKey, Scope};
use everstep_server::{Connections, Keys, Options, router};
use serde_json::{Value, json};

use crate::listening::listen;
use crate::support::{JSON, Response, engine_on, send, store};

struct Workers {
    engine: Engine,
    app: Router,
    keys: Keys,
}

impl Workers {
    async fn new() -> Self {
        let engine = engine_on(&store()).await;
        let keys = Keys::of(&engine);
        let app = router(&engine, Options::default());
        Self { engine, app, keys }
    }

    async fn key(&self, workflows: &[&str]) -> String {
        self.key_reaching(workflows, &[]).await
    }

    async fn key_reaching(&self, workflows: &[&str], reaches: &[&str]) -> String {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let request = CreateKey {
            workflows: owned(workflows),
            reaches: owned(reaches),
            ..CreateKey::new(workflows.join("-"), [Scope::Work])
        };
        self.keys.create(request, None).await.unwrap().key
    }

    async fn post(&self, key: &str, path: &str, body: Value) -> Response {
        let bearer = format!("Bearer {key}");
        let headers = [JSON, ("Authorization", bearer.as_str())];
        send(&self.app, "POST", path, &headers, body.to_string()).await
    }
}

impl Workers {
    /// Begins a session and returns its path.
    async fn register(&self, key: &str, workflow: &str) -> String {
        let registered = self.post(key, "/v1/workers", offer(workflow)).await.json();
        format!("/v1/workers/{}", registered["session"].as_str().unwrap())
    }

    async fn start(&self, workflow: &str, id: &str) {
        let mut start = Start::new(Name::new(workflow).unwrap(), Payload::null());
        start.id = Some(RunId::new(id).unwrap());
        self.engine.start(start).await.unwrap();
    }

    /// Returns the number of records in the journal of a run, or `None` if the run does not exist.
    async fn records(&self, id: &str) -> Option<usize> {
        let journal = self.engine.journal(&RunId::new(id).unwrap()).await;
        journal.ok().map(|journal| journal.len())
    }
}

fn record(kind: &str, value: &Value) -> Value {
    let headers = json!({"operation": "insert", "timestamp": "2026-01-01T00:00:00.000Z"});
    json!({"type": format!("workflow:{kind}"), "key": "run", "value": value, "headers": headers})
}

fn child(at: &str, workflow: &str, run: &str, detached: bool) -> Value {
    let started = json!({
        "id": at, "run": run, "workflow": workflow, "input": null, "tags": [],
        "onClose": "abandon", "detached": detached,
    });
    record("child_started", &started)
}

fn sent(at: &str, to: &str) -> Value {
    record(
        "sent",
        &json!({"id": at, "to": to, "event": "go", "payload": 1}),
    )
}

fn offer(workflow: &str) -> Value {
    json!({
        "worker": "w",
        "slots": 1,
        "workflows": [{"name": workflow, "versions": [1, 1], "description": {}}],
    })
}

#[tokio::test]
async fn a_worker_can_offer_only_the_workflows_its_key_names() {
    let workers = Workers::new().await;
    let key = workers.key(&["pay"]).await;
    let refused = workers.post(&key, "/v1/workers", offer("ship")).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(refused.json()["code"], "forbidden");
    let taken = workers.post(&key, "/v1/workers", offer("pay")).await;
    assert_eq!(taken.status, 200, "{taken:?}");
}

#[tokio::test]
async fn a_session_requires_a_key_for_all_its_workflows() {
    let workers = Workers::new().await;
    let (payer, shipper) = (workers.key(&["pay"]).await, workers.key(&["ship"]).await);
    let registered = workers.post(&payer, "/v1/workers", offer("pay")).await;
    let session = registered.json()["session"].as_str().unwrap().to_owned();
    let heartbeat = format!("/v1/workers/{session}/heartbeat");
    for (verb, body) in [
        ("claim", json!({"after": 0, "leaving": false})),
        ("append", json!({"appends": [], "released": []})),
        ("heartbeat", json!({})),
        ("release", json!({"tokens": []})),
    ] {
        let path = format!("/v1/workers/{session}/{verb}");
        let refused = workers.post(&shipper, &path, body).await;
        assert_eq!(refused.status, 404, "{verb}: {refused:?}");
        assert_eq!(refused.json()["code"], "unknown_session", "{verb}");
    }
    let bearer = format!("Bearer {shipper}");
    let shown = [("Authorization", bearer.as_str())];
    let path = format!("/v1/workers/{session}");
    let ended = send(&workers.app, "DELETE", &path, &shown, "").await;
    assert_eq!(ended.status, 404);
    let alive = workers.post(&payer, &heartbeat, json!({})).await;
    assert_eq!(alive.status, 200, "its own worker goes on: {alive:?}");
}

// B376
#[tokio::test]
async fn the_runs_of_a_worker_reach_only_the_workflows_that_its_key_names() {
    let workers = Workers::new().await;
    let (payer, shipper) = (workers.key(&["pay"]).await, workers.key(&["ship"]).await);
    let wide = workers.key_reaching(&["pay"], &["ship"]).await;
    workers.register(&shipper, "ship").await;
    let session = workers.register(&payer, "pay").await;
    workers.start("ship", "secret").await;
    workers.start("pay", "p").await;
    let claim = json!({"after": 0, "leaving": false});
    let path = format!("{session}/claim");
    let claimed = workers.post(&payer, &path, claim).await;
    let token = claimed.json()["items"][0]["run"]["token"].clone();
    let append = async |key: &str, seq: u32, records: &[Value]| {
        let append = json!({
            "token": token, "seq": seq, "seen": 1, "inboxSeen": 1, "then": "continue",
            "records": records,
        });
        let path = format!("{session}/append");
        let request = json!({"appends": [append], "released": []});
        workers.post(key, &path, request).await
    };
    let beyond = [
        child("a:0", "ship", "secret", false),
        child("b:0", "ship", "new", true),
        sent("c:0", "secret"),
    ];
    for (record, seq) in beyond.iter().zip(1..) {
        let refused = append(&payer, seq, std::slice::from_ref(record)).await;
        assert_eq!(refused.json()["answers"][0]["outcome"], "refused");
        assert_eq!(refused.json()["answers"][0]["code"], "forbidden");
    }
    assert_eq!(workers.records("p").await, Some(1), "nothing is stored");
    assert_eq!(workers.records("secret").await, Some(1));
    assert_eq!(workers.records("new").await, None);

    let own = [
        child("d:0", "pay", "p2", true),
        sent("e:0", "p2"),
        sent("f:0", "p"),
    ];
    let allowed = append(&payer, 4, &own).await;
    assert_eq!(allowed.status, 200, "{allowed:?}");

    let allowed = append(&wide, 5, &beyond).await;
    assert_eq!(
        allowed.status, 200,
        "the key names the workflow: {allowed:?}"
    );
}

// B487
#[tokio::test]
async fn a_worker_cannot_claim_to_have_read_beyond_the_end_of_a_journal() {
    let workers = Workers::new().await;
    let key = workers.key(&["pay"]).await;
    let session = workers.register(&key, "pay").await;
    workers.start("pay", "p").await;
    let claim = json!({"after": 0, "leaving": false});
    let claimed = workers.post(&key, &format!("{session}/claim"), claim).await;
    let token = claimed.json()["items"][0]["run"]["token"].clone();
    let children: Vec<Value> = ["a", "b", "c"]
        .map(|name| child(&format!("{name}:0"), "pay", name, true))
        .into();
    let append = async |seq: u32, seen: u64, records: &[Value]| {
        let append = json!({
            "token": token, "seq": seq, "seen": seen, "inboxSeen": 1, "then": "continue",
            "records": records,
        });
        let request = json!({"appends": [append], "released": []});
        let path = format!("{session}/append");
        workers.post(&key, &path, request).await
    };
    for (seq, seen) in [(1, 2), (2, u64::MAX)] {
        let refused = append(seq, seen, &children).await;
        assert_eq!(refused.json()["answers"][0]["outcome"], "refused");
        assert_eq!(refused.json()["answers"][0]["code"], "invalid_append");
    }
    assert_eq!(workers.records("p").await, Some(1), "nothing is stored");
    assert_eq!(append(3, 1, &children).await.status, 200);
    let answered = append(4, 4, &[sent("d:0", "a")]).await;
    assert_eq!(
        answered.status, 200,
        "it has read its own records: {answered:?}"
    );
}

/// Waits until a run has this status.
async fn reach(workers: &Workers, id: &str, status: RunStatus) {
    let id = RunId::new(id).unwrap();
    while workers.engine.row(&id).await.unwrap().status != status {
        tokio::task::yield_now().await;
    }
}

// B881
#[tokio::test]
async fn a_run_that_reaches_beyond_the_key_of_its_worker_is_parked_and_others_go_on() {
    let workers = Workers::new().await;
    let url = format!(
        "http://{}",
        listen(workers.app.clone(), Connections::default()).await
    );
    let pay = async |ctx: Ctx, reaches_beyond: bool| {
        if reaches_beyond {
            ctx.child_by_name("ship", Payload::null()).await?;
        }
        ctx.step("paid", async || Ok::<_, everstep::Error>(()))
            .await
    };
    let connect = async |key: &str| {
        let worker = Worker::connect(&url).key(key);
        let worker = worker.workflows(Workflows::new().function("pay", pay));
        let worker = worker.start().unwrap();
        worker.connected().await;
        worker
    };
    let worker = connect(&workers.key(&["pay"]).await).await;
    for (id, input) in [("beyond", "true"), ("own", "false")] {
        let input = Payload::from_json(input).unwrap();
        let mut start = Start::new(Name::new("pay").unwrap(), input);
        start.id = Some(RunId::new(id).unwrap());
        workers.engine.start(start).await.unwrap();
    }
    reach(&workers, "beyond", RunStatus::Diverged).await;
    reach(&workers, "own", RunStatus::Completed).await;
    let why = workers
        .engine
        .why(&RunId::new("beyond").unwrap(), None)
        .await;
    let why = format!("{:?}", why.unwrap());
    assert!(why.contains("create a key that names it"), "{why}");
    worker.shutdown().await;
    let worker = connect(&workers.key_reaching(&["pay"], &["ship"]).await).await;
    reach(&workers, "beyond", RunStatus::Waiting).await;
    worker.shutdown().await;
}
