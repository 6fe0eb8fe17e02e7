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

// B614
#[test]
fn a_copy_shows_its_own_creation_and_what_it_was_copied_from() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let original = served.wait_for_status("o", "waiting").await;
        assert_eq!(original["forkedFrom"], json!(null));
        served.test.advance(secs(60)).await;
        served.post("/workflows/o/fork", r#"{"id":"f"}"#).await;
        let fork = served.wait_for_status("f", "waiting").await;
        assert_ne!(fork["createdAt"], original["createdAt"]);
        let listed = served.get("/workflows").await.json();
        let listed = listed["runs"].as_array().unwrap();
        let listed = listed.iter().find(|run| run["id"] == "f").unwrap();
        assert_eq!(fork["createdAt"], listed["createdAt"]);
        assert_eq!(
            fork["forkedFrom"],
            json!({"run": "o", "generation": 1, "reason": "fork", "at": null})
        );
        let restart = r#"{"from":"reserve:0"}"#;
        served.post("/workflows/f/restart", restart).await;
        let restarted = served.wait_for_status("f", "waiting").await;
        assert_eq!(
            restarted["forkedFrom"],
            json!({"run": "f", "generation": 1, "reason": "restart", "at": "reserve:0"})
        );
    });
}

// B612
#[test]
fn a_run_shows_the_progress_of_its_rollback() {
    served(async |served| {
        served.start("voyage", "v", "null").await;
        let run = served.wait_for_status("v", "sleeping").await;
        assert_eq!(run["rollback"], json!(null));
        served.post("/workflows/v/cancel", "").await;
        served.test.advance(secs(5)).await;
        let run = served.wait_for_status("v", "rolling_back").await;
        let rollback = &run["rollback"];
        assert_eq!(
            (&rollback["undone"], &rollback["step"], &rollback["attempt"]),
            (&json!(1), &json!("ship:0"), &json!(1))
        );
        assert_eq!(rollback["error"]["message"], "the ship has left");
        assert!(rollback["retryAt"].is_string());
        assert_eq!(run["rolledBack"], false);
    });
}

// B613
#[test]
fn a_run_shows_its_passes_its_point_of_no_return_and_the_first_attempts_of_steps() {
    served(async |served| {
        let start = r#"{"type":"unsteady","id":"u","input":null,"executionRetries":3}"#;
        served.post("/workflows", start).await;
        served.wait_for_status("u", "sleeping").await;
        let run = served.get("/workflows/u").await.json();
        let step = &run["steps"][0];
        assert_eq!(
            (&step["status"], &step["attempts"]),
            (&json!("completed"), &json!(2))
        );
        let (first, last) = (&step["firstStartedAt"], &step["startedAt"]);
        assert!(first.as_str().unwrap() < last.as_str().unwrap(), "{step}");
        assert_eq!(
            (&run["executionAttempt"], &run["executionRetries"]),
            (&json!(1), &json!(3))
        );
        assert!(run["noReturnAt"].is_string());
        served.test.advance(secs(120)).await;
        let run = served.wait_for_status("u", "sleeping").await;
        assert_eq!(run["executionAttempt"], 2);
    });
}
