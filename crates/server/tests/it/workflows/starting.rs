//! Starts of runs.

use super::support::{assert_rejected, served};
use crate::support::send;

#[test]
fn starting_the_same_id_returns_the_existing_run() {
    served(async |served| {
        let body = r#"{"type":"nap","id":"n","input":60,"tags":["t"],"deadline":"1h"}"#;
        let first = served.post("/workflows", body).await;
        assert_eq!(first.status, 201);
        let run = first.json();
        assert_eq!(run["id"], "n");
        assert_eq!(run["type"], "nap");
        assert_eq!(run["created"], true);
        assert_eq!(run["stream"], "/v1/stream/workflows/n");
        assert!(run["status"].is_string());
        let again = served.post("/workflows", body).await;
        assert_eq!(
            (again.status.as_u16(), again.json()["created"].as_bool()),
            (200, Some(false))
        );
        let strict = served
            .post(
                "/workflows",
                r#"{"type":"nap","id":"n","strict":true,"input":60}"#,
            )
            .await;
        assert_rejected(&strict, 409, "run_exists");
        let other = served
            .post("/workflows", r#"{"type":"doubler","id":"n"}"#)
            .await;
        assert_rejected(&other, 409, "run_exists");
    });
}

#[test]
fn an_idempotency_key_starts_one_run() {
    served(async |served| {
        let body = r#"{"type":"nap","input":60,"idempotencyKey":"k"}"#;
        let first = served.post("/workflows", body).await;
        let again = served.post("/workflows", body).await;
        assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
        assert_eq!(first.json()["id"], again.json()["id"]);
    });
}

#[test]
#[allow(clippy::too_many_lines, reason = "one row for each invalid request")]
fn an_invalid_start_is_rejected_with_the_reason() {
    served(async |served| {
        for (body, status, code, reason) in [
            ("", 400, "invalid_request", "missing field `type`"),
            ("{", 400, "invalid_request", "EOF"),
            (
                r#"{"type":"nap","inptu":1}"#,
                400,
                "invalid_request",
                "unknown field `inptu`",
            ),
            (
                r#"{"type":"nap","id":"../x","input":1}"#,
                400,
                "invalid_run_id",
                "not allowed",
            ),
            (r#"{"type":"__x"}"#, 400, "invalid_name", "reserved"),
            (r#"{"type":"nope"}"#, 404, "unknown_workflow", "nope"),
            (
                r#"{"type":"order","input":"much"}"#,
                422,
                "schema_mismatch",
                "input",
            ),
            (
                r#"{"type":"nap","input":1,"deadline":"soon"}"#,
                400,
                "invalid_request",
                "deadline",
            ),
            (
                r#"{"type":"nap","input":1,"deadline":"0s"}"#,
                400,
                "invalid_options",
                "deadline",
            ),
        ] {
            let answer = served.post("/workflows", body).await;
            assert_rejected(&answer, status, code);
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains(reason), "{body}: {detail}");
        }
        let deep = format!(
            r#"{{"type":"nap","input":{}1{}}}"#,
            "[".repeat(64),
            "]".repeat(64)
        );
        assert_rejected(
            &served.post("/workflows", &deep).await,
            400,
            "invalid_request",
        );
        let large = format!(r#"{{"type":"slow","input":"{}"}}"#, "x".repeat(1024 * 1024));
        assert_rejected(
            &served.post("/workflows", &large).await,
            413,
            "payload_too_large",
        );
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let posted = send(
            &served.app,
            "POST",
            "/workflows",
            &form,
            r#"{"type":"slow"}"#,
        )
        .await;
        assert_rejected(&posted, 415, "invalid_request");
        let listed = served.get("/workflows").await.json();
        assert_eq!(listed["runs"].as_array().unwrap().len(), 0);
    });
}

#[test]
fn an_unknown_route_returns_a_problem() {
    served(async |served| {
        assert_rejected(&served.get("/workflow").await, 404, "no_route");
        assert_rejected(&served.post("/workflows/x", "{}").await, 405, "no_route");
        assert_rejected(&served.get("/workflows/%FF").await, 400, "invalid_request");
    });
}

// B495
#[test]
fn a_batch_starts_each_run_and_reports_the_refused_ones() {
    served(async |served| {
        served.start("order", "o1", "7").await;
        let batch = r#"{"runs":[
            {"type":"order","id":"o1","input":7},
            {"type":"order","id":"o2","input":8},
            {"type":"nonsense","id":"o3"},
            {"type":"order","id":"..","input":8}
        ]}"#;
        let answer = served.post("/batch", batch).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let runs = answer.json()["runs"].clone();
        let created: Vec<_> = [0, 1]
            .map(|run| runs[run]["started"]["created"].clone())
            .into();
        assert_eq!(created, [false, true]);
        assert_eq!(runs[1]["started"]["id"], "o2");
        assert_eq!(runs[2]["problem"]["code"], "unknown_workflow");
        assert_eq!(runs[3]["problem"]["code"], "invalid_run_id");
        let many = format!(
            r#"{{"runs":[{}]}}"#,
            vec![r#"{"type":"order"}"#; 1_001].join(",")
        );
        assert_eq!(served.post("/batch", &many).await.status, 400);
    });
}
