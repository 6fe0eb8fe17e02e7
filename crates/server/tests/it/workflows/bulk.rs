//! Bulk requests.

use serde_json::{Value, json};

use super::support::{assert_rejected, served};
use crate::support::{JSON, send};

#[test]
fn a_bulk_request_reports_the_outcome_of_each_run() {
    served(async |served| {
        for n in 0..3 {
            served.start("nap", &format!("n{n}"), "9000").await;
        }
        served.start("order", "o", "7").await;
        let body = r#"{"verb":"terminate","filter":{"type":["nap"]},"reason":"test"}"#;
        let report = served.post("/bulk", body).await.json();
        assert_eq!(
            (&report["total"], &report["changed"]),
            (&json!(3), &json!(3))
        );
        assert_eq!(report["runs"][0]["done"]["status"], "terminated");
        let body = r#"{"verb":"cancel","ids":["o","nobody","o"]}"#;
        let report = served.post("/bulk", body).await.json();
        assert_eq!(
            (&report["total"], &report["refused"]),
            (&json!(2), &json!(1))
        );
        assert_eq!(report["runs"][1]["problem"]["code"], "unknown_run");
        served.wait_for_status("o", "cancelled").await;
    });
}

#[test]
fn a_bulk_request_reports_progress_line_by_line() {
    served(async |served| {
        for n in 0..3 {
            served.start("nap", &format!("n{n}"), "9000").await;
        }
        let headers = [JSON, ("Accept", "application/x-ndjson")];
        let body = r#"{"verb":"delete","filter":{}}"#;
        let response = send(&served.app, "POST", "/bulk", &headers, body).await;
        assert_eq!(response.header("content-type"), "application/x-ndjson");
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let done: Vec<_> = lines
            .iter()
            .filter_map(|line| line["progress"]["done"].as_u64())
            .collect();
        assert_eq!(done, [1, 2, 3]);
        assert_eq!(lines.last().unwrap()["report"]["changed"], 3);
        let left = served.get("/workflows").await.json();
        assert_eq!(left["runs"], json!([]));
    });
}

// B681
#[test]
fn a_bulk_request_for_many_runs_has_a_bounded_answer() {
    served(async |served| {
        let starts =
            (0..1_010).map(|n| json!({"type": "nap", "id": format!("n{n}"), "input": 9000}));
        let starts: Vec<Value> = starts.collect();
        for some in starts.chunks(505) {
            let batch = json!({ "runs": some }).to_string();
            let started = send(&served.app, "POST", "/batch", &[JSON], batch).await;
            assert_eq!(started.status, 200, "{:?}", started.json());
        }
        let body = r#"{"verb":"delete","filter":{}}"#;
        let report = served.post("/bulk", body).await.json();
        assert_eq!(
            (&report["total"], &report["changed"], &report["omitted"]),
            (&json!(1_010), &json!(1_010), &json!(10))
        );
        assert_eq!(report["runs"].as_array().unwrap().len(), 1_000);
    });
}

// B843
#[test]
fn a_bulk_request_names_a_limited_number_of_runs() {
    served(async |served| {
        let request = |count| {
            let ids = vec!["nobody"; count];
            json!({"verb": "pause", "ids": ids}).to_string()
        };
        let most = served.post("/bulk", &request(10_000)).await;
        assert_eq!(most.json()["refused"], 1, "a run is processed once");
        let more = served.post("/bulk", &request(10_001)).await;
        assert_rejected(&more, 400, "invalid_request");
        assert!(more.json()["detail"].as_str().unwrap().contains("10000"));
    });
}

#[test]
fn a_bulk_request_needs_ids_or_a_filter() {
    served(async |served| {
        for body in [
            r#"{"verb":"pause"}"#,
            r#"{"verb":"pause","ids":[],"filter":{}}"#,
            r#"{"verb":"shout","ids":[]}"#,
            r#"{"verb":"pause","filter":{"state":"x"}}"#,
        ] {
            assert_rejected(&served.post("/bulk", body).await, 400, "invalid_request");
        }
    });
}
