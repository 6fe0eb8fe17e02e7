//! Inspection of runs.

use everstep::secs;
use serde_json::json;

use super::support::{assert_rejected, served};
use crate::support::send;

#[test]
fn a_run_shows_its_steps_waits_and_open_rpcs() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let run = served.wait_for_status("o", "waiting").await;
        for (field, value) in [
            ("id", json!("o")),
            ("type", json!("order")),
            ("version", json!(1)),
            ("generation", json!(1)),
            ("input", json!(7)),
            ("result", json!(null)),
            ("error", json!(null)),
            ("rpcs", json!([])),
            ("stream", json!("/v1/stream/workflows/o")),
            ("completedAt", json!(null)),
        ] {
            assert_eq!(run[field], value, "{field}");
        }
        assert!(run["createdAt"].is_string() && run["updatedAt"].is_string());
        let step = &run["steps"][0];
        assert_eq!(step["id"], "reserve:0");
        assert_eq!(
            (&step["name"], &step["status"]),
            (&json!("reserve"), &json!("completed"))
        );
        assert_eq!((&step["attempts"], &step["result"]), (&json!(1), &json!(7)));
        for field in ["error", "startedAt", "completedAt", "nextRetryAt"] {
            assert!(step.get(field).is_some(), "{field}");
        }
        let wait = &run["waitingFor"][0];
        assert_eq!(
            (&wait["kind"], &wait["name"]),
            (&json!("event"), &json!("approval"))
        );
        assert!(wait["since"].is_string() && wait["deadline"].is_null());
        served
            .post("/workflows/o/events/approval", r#"{"by":"ada"}"#)
            .await;
        served.test.advance(secs(1)).await;
        let run = served.get("/workflows/o").await.json();
        let rpc = &run["rpcs"][0];
        assert_eq!(
            (&rpc["method"], &rpc["args"]),
            (&json!("confirm"), &json!({"amount": 7}))
        );
        assert!(rpc["id"].is_string() && rpc["deadline"].is_null());
    });
}

#[test]
fn a_wait_returns_when_the_run_ends_or_the_timeout_expires() {
    served(async |served| {
        served.start("nap", "n", "40").await;
        let early = served.get("/workflows/n?wait=10s").await.json();
        assert_eq!(early["status"], "sleeping");
        assert_eq!(early["waitingFor"][0]["kind"], "sleep");
        let over = served.get("/workflows/n?wait=50s").await.json();
        assert_eq!(
            (&over["status"], &over["result"]),
            (&json!("completed"), &json!(40))
        );
        assert!(over["completedAt"].is_string());
        assert_rejected(
            &served.get("/workflows/n?wait=ever").await,
            400,
            "invalid_request",
        );
        assert_rejected(
            &served.get("/workflows/x?wait=1s").await,
            404,
            "unknown_run",
        );
        assert_rejected(
            &served.get("/workflows/n?wiat=1s").await,
            400,
            "invalid_request",
        );
    });
}

#[test]
fn a_run_has_a_why_a_timeline_and_a_shape() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let why = served.get("/workflows/o/why").await.json();
        assert_eq!(why["status"], "waiting");
        assert_eq!(why["reasons"][0]["kind"], "event");
        assert!(
            why["sentence"].as_str().unwrap().contains("approval"),
            "{why}"
        );
        let lines = served.get("/workflows/o/timeline").await.json();
        assert_eq!(lines[0]["kind"], "created");
        let accept = [("Accept", "application/x-ndjson")];
        let response = send(&served.app, "GET", "/workflows/o/timeline", &accept, "").await;
        assert_eq!(response.header("content-type"), "application/x-ndjson");
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        assert_eq!(text.lines().count(), lines.as_array().unwrap().len());
        let chart = served.get("/workflows/o/shape").await;
        assert_eq!(chart.header("content-type"), "text/vnd.mermaid");
        assert!(chart.body.starts_with(b"flowchart TD"), "{chart:?}");
        let accept = [("Accept", "application/json")];
        let shape = send(&served.app, "GET", "/workflows/o/shape", &accept, "").await;
        assert_eq!(shape.json()["workflow"], "order");
        let journal = served.get("/workflows/o/journal").await;
        let journal = String::from_utf8(journal.body.to_vec()).unwrap();
        for line in journal.lines() {
            everstep_model::entry_from_json(line).unwrap();
        }
        assert!(journal.lines().count() > 2);
    });
}
