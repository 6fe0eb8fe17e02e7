//! Keys that are limited to workflows, run ids and stream paths: what they show, permit and create.

use std::time::Duration;

use axum::Router;
use everstep::{AnyEvent, Ctx, Engine, Payload, Result, Workflows};
use everstep_protocol::access::{CreateKey, Scope};
use everstep_server::{Keys, Options, router};
use serde_json::{Value, json};

use crate::support::{JSON, Response, TEXT, send};

/// Waits for an hour.
async fn patient(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.sleep("nap", Duration::from_secs(3_600)).await
}

struct Site {
    engine: Engine,
    app: Router,
    admin: String,
}

/// Starts a server with runs of two tenants and two workflows, and streams of two tenants.
async fn site() -> Site {
    let workflows = Workflows::new()
        .function("order", patient)
        .function("refund", patient);
    let engine = Engine::in_memory().workflows(workflows);
    let engine = engine.start().await.unwrap();
    for (workflow, id) in [
        ("order", "acme-1"),
        ("refund", "acme-2"),
        ("order", "other-1"),
        ("order", "acme-3"),
    ] {
        let run = engine.start_by_name(workflow, Payload::null());
        run.id(id).await.unwrap();
    }
    let admin = CreateKey::new("ops", [Scope::Admin]);
    let admin = Keys::of(&engine).create(admin, None).await.unwrap().key;
    let app = router(&engine, Options::default());
    let site = Site { engine, app, admin };
    for path in ["acme/chat", "other/chat"] {
        let path = format!("/v1/stream/{path}");
        let created = site.call(&site.admin, "PUT", &path, TEXT, "x").await;
        assert_eq!(created.status, 201);
    }
    site
}

impl Site {
    /// Returns a key with all scopes that may be limited.
    async fn limited(&self, workflows: &[&str], runs: &[&str], streams: &[&str]) -> String {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let scopes = [Scope::Read, Scope::Start, Scope::Send, Scope::Operate];
        let request = CreateKey {
            workflows: owned(workflows),
            runs: owned(runs),
            streams: owned(streams),
            ..CreateKey::new("tenant", scopes)
        };
        let body = serde_json::to_value(request).unwrap();
        let created = self.post(&self.admin, "/keys", body).await;
        assert_eq!(created.status, 201, "{created:?}");
        created.json()["key"].as_str().unwrap().to_owned()
    }

    async fn call(
        &self,
        key: &str,
        method: &str,
        path: &str,
        kind: (&str, &str),
        body: impl Into<String>,
    ) -> Response {
        let bearer = format!("Bearer {key}");
        let headers = [kind, ("Authorization", bearer.as_str())];
        send(&self.app, method, path, &headers, body.into()).await
    }

    async fn get(&self, key: &str, path: &str) -> Response {
        self.call(key, "GET", path, JSON, "").await
    }

    async fn post(&self, key: &str, path: &str, body: Value) -> Response {
        self.call(key, "POST", path, JSON, body.to_string()).await
    }

    /// Returns the ids of listed runs, newest first.
    async fn listed(&self, key: &str, query: &str) -> Vec<String> {
        let page = self.get(key, &format!("/workflows{query}")).await.json();
        let runs = page["runs"].as_array().unwrap().iter();
        runs.map(|run| run["id"].as_str().unwrap().to_owned())
            .collect()
    }

    async fn status(&self, id: &str) -> String {
        let run = self.engine.run(id).await.unwrap();
        run.inspect().await.unwrap().row.status.to_string()
    }
}

// B440
#[tokio::test]
async fn lists_show_only_what_a_key_reaches() {
    let site = site().await;
    let tenant = site.limited(&[], &["acme-"], &[]).await;
    assert_eq!(
        site.listed(&tenant, "").await,
        ["acme-3", "acme-2", "acme-1"]
    );
    let pages = site.get(&tenant, "/workflows?limit=2").await.json();
    let cursor = pages["cursor"].as_str().unwrap();
    let rest = format!("?limit=2&cursor={cursor}");
    assert_eq!(site.listed(&tenant, &rest).await, ["acme-1"]);

    let orders = site.limited(&["order"], &["acme-"], &[]).await;
    assert_eq!(site.listed(&orders, "").await, ["acme-3", "acme-1"]);
    assert!(site.listed(&orders, "?type=refund").await.is_empty());
    let types = site.get(&orders, "/types").await.json();
    assert_eq!(types["types"].as_array().unwrap().len(), 1);
    assert_eq!(types["types"][0]["type"], "order");

    let streams = site.limited(&[], &[], &["acme/"]).await;
    assert!(site.listed(&streams, "").await.is_empty());
    let types = site.get(&streams, "/types").await.json();
    assert_eq!(types["types"], json!([]));
}

// B440
#[tokio::test]
async fn a_key_reads_and_controls_only_the_runs_that_it_reaches() {
    let site = site().await;
    let orders = site.limited(&["order"], &["acme-"], &[]).await;
    for path in ["", "/why", "/timeline", "/shape"] {
        for (id, status) in [("acme-1", 200), ("acme-2", 403), ("other-1", 403)] {
            let read = site.get(&orders, &format!("/workflows/{id}{path}")).await;
            assert_eq!(read.status, status, "{id}{path}");
        }
    }
    for (id, status) in [("acme-1", 200), ("acme-2", 403), ("other-1", 403)] {
        let journal = format!("/v1/stream/workflows/{id}?offset=-1");
        assert_eq!(site.get(&orders, &journal).await.status, status, "{id}");
        let token = site.post(&orders, "/tokens", json!({"run": id})).await;
        assert_eq!(token.status == 201, status == 200, "{id}");
        let pause = format!("/workflows/{id}/pause");
        let paused = site.post(&orders, &pause, json!({})).await;
        assert_eq!(paused.status, status, "{id}");
    }
    let metrics = site.get(&orders, "/metrics").await;
    assert_eq!(metrics.status, 403, "metrics count all runs");
}

// B440
#[tokio::test]
async fn a_bulk_request_changes_only_the_runs_that_the_key_reaches() {
    let site = site().await;
    let orders = site.limited(&["order"], &["acme-"], &[]).await;
    let named = json!({"verb": "terminate", "ids": ["acme-1", "acme-2", "other-1", "acme-9"]});
    let report = site.post(&orders, "/bulk", named).await.json();
    assert_eq!(
        (&report["changed"], &report["refused"]),
        (&json!(1), &json!(3))
    );
    let all = json!({"verb": "terminate", "filter": {}});
    let report = site.post(&orders, "/bulk", all).await.json();
    assert_eq!(report["total"], 2, "{report}");
    for (id, is_changed) in [
        ("acme-1", true),
        ("acme-2", false),
        ("other-1", false),
        ("acme-3", true),
    ] {
        assert_eq!(site.status(id).await == "terminated", is_changed, "{id}");
    }
}

// B440
#[tokio::test]
async fn a_key_creates_only_runs_that_it_reaches() {
    let site = site().await;
    let orders = site.limited(&["order"], &["acme-"], &[]).await;
    for (body, status) in [
        (json!({"type": "order", "id": "acme-4", "input": null}), 201),
        (
            json!({"type": "order", "id": "other-4", "input": null}),
            403,
        ),
        (
            json!({"type": "refund", "id": "acme-5", "input": null}),
            403,
        ),
    ] {
        let started = site.post(&orders, "/workflows", body.clone()).await;
        assert_eq!(started.status, status, "{body}");
    }
    let unnamed = json!({"type": "order", "input": null});
    let started = site.post(&orders, "/workflows", unnamed).await.json();
    assert!(started["id"].as_str().unwrap().starts_with("acme-"));

    let fork = |body| site.post(&orders, "/workflows/acme-1/fork", body);
    assert_eq!(fork(json!({"id": "other-6"})).await.status, 403);
    let forked = fork(json!({})).await;
    let id = forked.json()["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("acme-"), "{id}");

    let other = site.limited(&["order"], &["other-"], &[]).await;
    let keyed = json!({"type": "order", "input": null, "idempotencyKey": "k"});
    let first = site.post(&other, "/workflows", keyed.clone()).await;
    assert_eq!(first.status, 201);
    let second = site.post(&orders, "/workflows", keyed).await;
    assert_eq!(second.status, 403, "it is the run of another tenant");
}

// B440
#[tokio::test]
async fn a_key_reaches_only_streams_whose_paths_begin_as_it_names() {
    let site = site().await;
    let tenant = site.limited(&[], &[], &["acme/"]).await;
    for (path, status) in [
        ("acme/chat", 200),
        ("other/chat", 403),
        ("acme%2Fchat", 200),
    ] {
        let path = format!("/v1/stream/{path}?offset=-1");
        assert_eq!(site.get(&tenant, &path).await.status, status, "{path}");
    }
    let unlimited_runs = site.limited(&["order"], &[], &[]).await;
    let path = "/v1/stream/acme/chat?offset=-1";
    assert_eq!(site.get(&unlimited_runs, path).await.status, 403);
    // The content of a fork is that of its source.
    for (source, status) in [("acme/chat", 201), ("other/chat", 403)] {
        let source = format!("/v1/stream/{source}");
        let bearer = format!("Bearer {tenant}");
        let headers = [
            TEXT,
            ("Authorization", bearer.as_str()),
            ("Stream-Forked-From", source.as_str()),
        ];
        let path = "/v1/stream/acme/fork";
        let forked = send(&site.app, "PUT", path, &headers, "").await;
        assert_eq!(forked.status, status, "{source}");
    }
}

// B440
#[tokio::test]
async fn a_key_subscribes_only_to_streams_that_it_reaches() {
    let site = site().await;
    let acme = site.limited(&[], &[], &["acme/"]).await;
    let other = site.limited(&[], &[], &["other/"]).await;
    let at = |id: &str| format!("/v1/stream/__ds/subscriptions/{id}");
    let wake = |pattern: &str, streams: &[&str], wake: &str| {
        json!({"type": "pull-wake", "pattern": pattern, "streams": streams, "wake_stream": wake})
            .to_string()
    };
    for (body, status) in [
        (wake("acme/**", &["acme/chat"], "acme/wake"), 201),
        (wake("**", &["acme/chat"], "acme/wake"), 403),
        (wake("acme/**", &["other/chat"], "acme/wake"), 403),
        (wake("acme/**", &["acme/chat"], "other/wake"), 403),
    ] {
        let id = at(&format!("s{status}"));
        let created = site.call(&acme, "PUT", &id, JSON, body.clone()).await;
        assert_eq!(created.status, status, "{body}");
    }
    let streams = at("s201/streams");
    let foreign = json!({"streams": ["other/chat"]});
    assert_eq!(site.post(&acme, &streams, foreign).await.status, 403);
    let own = json!({"streams": ["acme/more"]});
    assert_eq!(site.post(&acme, &streams, own.clone()).await.status, 204);
    assert_eq!(site.get(&acme, &at("s201")).await.status, 200);
    // Another tenant neither sees nor changes it.
    assert_eq!(site.get(&other, &at("s201")).await.status, 403);
    assert_eq!(site.post(&other, &streams, own).await.status, 403);
    let claim = site
        .post(&other, &at("s201/claim"), json!({"worker": "w"}))
        .await;
    assert_eq!(claim.status, 403);
    let removed = site.call(&other, "DELETE", &at("s201"), JSON, "").await;
    assert_eq!(removed.status, 403);
    let unlinked = at("s201/streams/acme%2Fmore");
    let removed = site.call(&other, "DELETE", &unlinked, JSON, "").await;
    assert_eq!(removed.status, 403);
}

// B842
#[tokio::test]
async fn a_limited_key_does_not_subscribe_to_feeds() {
    let site = site().await;
    let at = |id: &str| format!("/v1/stream/__ds/subscriptions/{id}");
    for prefix in ["_", "__", "__d"] {
        let key = site.limited(&[], &[], &[prefix]).await;
        let wake = |streams: &[&str]| {
            let wake = format!("{prefix}wake");
            json!({"type": "pull-wake", "streams": streams, "wake_stream": wake}).to_string()
        };
        let feed = "__ds/feeds/records";
        let created = site
            .call(&key, "PUT", &at("feed"), JSON, wake(&[feed]))
            .await;
        assert_eq!(created.status, 403, "{prefix}");
        let own = format!("{prefix}own");
        let created = site.call(&key, "PUT", &at(&own), JSON, wake(&[&own])).await;
        assert_eq!(created.status, 201, "{prefix} {created:?}");
        let streams = format!("{}/streams", at(&own));
        let linked = site.post(&key, &streams, json!({"streams": [feed]})).await;
        assert_eq!(linked.status, 403, "{prefix}");
        for path in ["__ds/feeds/records", "%5F_ds/feeds/records"] {
            let read = site
                .get(&key, &format!("/v1/stream/{path}?offset=-1"))
                .await;
            assert_eq!(read.status, 403, "{prefix} {path}");
        }
    }
}

// B847
#[tokio::test]
async fn a_start_with_the_id_of_an_unreached_run_does_not_name_its_workflow() {
    let site = site().await;
    let orders = site.limited(&["order"], &[], &[]).await;
    for strict in [false, true] {
        let start = json!({"type": "order", "id": "acme-2", "input": null, "strict": strict});
        let started = site.post(&orders, "/workflows", start.clone()).await;
        assert_eq!(started.status, 403, "{started:?}");
        let text = String::from_utf8(started.body.to_vec()).unwrap();
        assert!(!text.contains("refund"), "{text}");
        let batch = site.post(&orders, "/batch", json!({"runs": [start]})).await;
        assert_eq!(batch.json()["runs"][0]["problem"]["code"], "forbidden");
    }
    let both = site.limited(&["order", "refund"], &[], &[]).await;
    let start = json!({"type": "order", "id": "acme-2", "input": null});
    let started = site.post(&both, "/workflows", start).await;
    assert_eq!(started.status, 409, "{started:?}");
}

// B843
#[tokio::test]
async fn a_bulk_request_counts_the_runs_that_a_key_does_not_reach_and_shows_some() {
    let site = site().await;
    let tenant = site.limited(&[], &["acme-"], &[]).await;
    let mut ids: Vec<String> = (0..1_500).map(|n| format!("other-{n}")).collect();
    ids.push("acme-1".to_owned());
    let named = json!({"verb": "terminate", "ids": ids});
    let report = site.post(&tenant, "/bulk", named).await.json();
    assert_eq!(
        (&report["total"], &report["changed"], &report["refused"]),
        (&json!(1_501), &json!(1), &json!(1_500))
    );
    assert_eq!(report["omitted"], 501);
    assert_eq!(report["runs"][0]["problem"]["code"], "forbidden");
    assert_eq!(site.status("acme-1").await, "terminated");
}
