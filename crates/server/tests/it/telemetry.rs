//! Metrics and health checks.

use std::time::Duration;

use everstep::{AnyEvent, Ctx, Engine, Payload, Result, Workflows};
use everstep_server::{Access, Options, router};

use crate::support::{JSON, send};

async fn fine() -> Result<u32> {
    Ok(1)
}

async fn steps(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.step("a", fine).await?;
    ctx.step("b", fine).await
}

async fn asleep(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.sleep("long", Duration::from_secs(3_600)).await
}

async fn engine() -> Engine {
    let workflows = Workflows::new().function("w", steps);
    let engine = Engine::in_memory().workflows(workflows.function("asleep", asleep));
    engine.start().await.unwrap()
}

#[tokio::test]
async fn metrics_count_runs_and_requests() {
    let engine = engine().await;
    let mut options = Options::default();
    options.access = Access::Open;
    let server = router(&engine, options);
    let run = engine.start_by_name("w", Payload::null()).await.unwrap();
    run.wait_json().await.unwrap();
    send(&server, "GET", "/workflows", &[], "").await;
    let open = ("Accept", "application/openmetrics-text");
    let metrics = send(&server, "GET", "/metrics", &[open], "").await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let requests =
        "everstep_http_requests_total{method=\"GET\",route=\"/workflows\",status=\"2xx\"} 1";
    for line in [
        "everstep_runs_started_total 1",
        "everstep_runs_ended_total{status=\"completed\"} 1",
        "everstep_runs_ended_total{status=\"failed\"} 0",
        "everstep_steps_completed_total 2",
        "everstep_step_failures_total 0",
        requests,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
}

// B485
#[tokio::test]
async fn metrics_are_in_the_format_that_the_client_accepts() {
    let engine = engine().await;
    let mut options = Options::default();
    options.access = Access::Open;
    let server = router(&engine, options);
    for accept in ["text/plain", "text/plain;version=0.0.4", "*/*"] {
        let metrics = send(&server, "GET", "/metrics", &[("Accept", accept)], "").await;
        let plain = "text/plain; version=0.0.4; charset=utf-8";
        assert_eq!(metrics.header("content-type"), plain);
        let text = String::from_utf8(metrics.body.to_vec()).unwrap();
        let described = "# TYPE everstep_runs_started_total counter";
        assert!(text.lines().any(|line| line == described), "{text}");
        assert!(!text.contains("# EOF"), "{text}");
    }
}

// B486
#[tokio::test]
async fn metrics_count_the_runs_of_the_store_by_status() {
    let engine = engine().await;
    let mut options = Options::default();
    options.access = Access::Open;
    let server = router(&engine, options);
    for _ in 0..2 {
        let run = engine.start_by_name("w", Payload::null()).await.unwrap();
        run.wait_json().await.unwrap();
    }
    engine
        .start_by_name("asleep", Payload::null())
        .await
        .unwrap();
    let asleep = "/workflows?status=sleeping";
    while send(&server, "GET", asleep, &[], "").await.json()["runs"][0].is_null() {
        tokio::task::yield_now().await;
    }
    let metrics = send(&server, "GET", "/metrics", &[], "").await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    for line in [
        "everstep_runs{status=\"completed\"} 2",
        "everstep_runs{status=\"sleeping\"} 1",
        "everstep_runs{status=\"queued\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn a_server_is_live_but_not_ready_after_engine_shutdown() {
    let engine = engine().await;
    let server = router(&engine, Options::default());
    let ready = send(&server, "GET", "/health/ready", &[], "").await;
    assert_eq!(ready.status, 200, "health checks need no key");
    engine.shutdown().await;
    let ready = send(&server, "GET", "/health/ready", &[], "").await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.header("Retry-After"), "1");
    let live = send(&server, "GET", "/health/live", &[], "").await;
    assert_eq!(live.status, 200);
}

// B338
#[cfg(unix)]
#[tokio::test]
async fn a_node_whose_directory_was_removed_refuses_writes_and_is_not_ready() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let engine = Engine::open(&data).workflows(Workflows::new().function("w", steps));
    let engine = engine.start().await.unwrap();
    let mut options = Options::default();
    options.access = Access::Open;
    let app = router(&engine, options);
    let ready = send(&app, "GET", "/health/ready", &[], "").await;
    assert_eq!(ready.status, 200);
    std::fs::remove_dir_all(&data).unwrap();
    for id in ["after", "later"] {
        let start = format!(r#"{{"type":"w","id":"{id}"}}"#);
        let refused = send(&app, "POST", "/workflows", &[JSON], start).await;
        assert_eq!(refused.status, 503);
        assert_eq!(refused.json()["code"], "store_poisoned");
    }
    let ready = send(&app, "GET", "/health/ready", &[], "").await;
    assert_eq!(ready.status, 503);
    engine.shutdown().await;
}
