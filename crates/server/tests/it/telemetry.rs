//! Metrics and health checks.

use everstep::{AnyEvent, Ctx, Engine, Payload, Result, Workflows};
use everstep_server::{Access, Options, router};

use crate::support::send;

async fn fine() -> Result<u32> {
    Ok(1)
}

async fn steps(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    ctx.step("a", fine).await?;
    ctx.step("b", fine).await
}

async fn engine() -> Engine {
    let engine = Engine::in_memory().workflows(Workflows::new().function("w", steps));
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
    let metrics = send(&server, "GET", "/metrics", &[], "").await;
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
