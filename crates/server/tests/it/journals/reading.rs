//! Reading journals in their views.

use everstep::secs;
use serde_json::Value;

use crate::support::send;
use crate::workflows::support::{assert_rejected, served};

const VIEWS: [&str; 3] = ["full", "state", "client"];

fn types(page: &Value) -> Vec<&str> {
    let rows = page.as_array().unwrap().iter();
    rows.map(|row| row["type"].as_str().unwrap()).collect()
}

#[test]
fn all_views_end_at_the_same_offset_and_show_different_content() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let head = send(&served.app, "HEAD", "/v1/stream/workflows/o", &[], "").await;
        let end = head.header("stream-next-offset").to_owned();
        assert_eq!(head.header("content-type"), "application/json");
        for view in VIEWS {
            let page = served
                .get(&format!("/v1/stream/workflows/o?view={view}"))
                .await;
            assert_eq!(page.header("stream-next-offset"), end, "{view}");
            assert_eq!(page.header("stream-up-to-date"), "true");
            assert!(
                page.header("cache-control").starts_with("private"),
                "{page:?}"
            );
            for row in page.json().as_array().unwrap() {
                assert!(row["headers"]["timestamp"].is_string(), "{row}");
                assert!(row["value"].is_object() || row["headers"]["operation"] == "delete");
            }
            let known = [("If-None-Match", page.header("etag"))];
            let again = send(
                &served.app,
                "GET",
                &format!("/v1/stream/workflows/o?view={view}"),
                &known,
                "",
            )
            .await;
            assert_eq!(again.status, 304);
        }
        let full = served.get("/v1/stream/workflows/o").await.json();
        assert_eq!(
            types(&full)[..2],
            ["workflow:created", "workflow:step_started"]
        );
        let created = &full[0]["value"];
        assert_eq!(
            (&created["workflow"], &created["input"]),
            (&"order".into(), &7.into())
        );
        assert_eq!(
            (created.get("seed"), created.get("idempotencyKey")),
            (None, None)
        );
        let state = served.get("/v1/stream/workflows/o?view=state").await.json();
        assert_eq!(types(&state)[0], "workflow");
        assert!(types(&state).contains(&"step"));
        let client = served
            .get("/v1/stream/workflows/o?view=client")
            .await
            .json();
        let shown = ["workflow", "wait"];
        assert!(
            types(&client).iter().all(|kind| shown.contains(kind)),
            "{client}"
        );
        assert_rejected(
            &served.get("/v1/stream/workflows/o?view=all").await,
            400,
            "invalid_stream_request",
        );
        assert_rejected(
            &served.get("/v1/stream/workflows/x").await,
            404,
            "stream_missing",
        );
    });
}

#[test]
fn no_view_shows_the_result_of_a_sensitive_step() {
    served(async |served| {
        served.start("discreet", "d", "null").await;
        served.wait_for_status("d", "waiting").await;
        for view in VIEWS {
            let page = served
                .get(&format!("/v1/stream/workflows/d?view={view}"))
                .await;
            let text = String::from_utf8(page.body.to_vec()).unwrap();
            assert!(!text.contains("hunter2"), "{view}: {text}");
            assert_eq!(
                text.contains("\"redacted\":true"),
                view != "client",
                "{text}"
            );
        }
        // A result that an operator sets for a sensitive step is redacted too.
        let edited = r#"{"from":"secret:0","result":"hunter2"}"#;
        served.post("/workflows/d/restart", edited).await;
        served.wait_for_status("d", "waiting").await;
        for view in VIEWS {
            let page = served
                .get(&format!("/v1/stream/workflows/d@2?view={view}"))
                .await;
            let text = String::from_utf8(page.body.to_vec()).unwrap();
            assert!(
                text.len() > 2 && !text.contains("hunter2"),
                "{view}: {text}"
            );
        }
    });
}

#[test]
fn an_empty_page_of_a_view_advances_the_offset() {
    served(async |served| {
        served.start("discreet", "d", "null").await;
        served.wait_for_status("d", "waiting").await;
        let before = send(&served.app, "HEAD", "/v1/stream/workflows/d", &[], "").await;
        let before = before.header("stream-next-offset").to_owned();
        // The client view does not show events.
        served.post("/workflows/d/events/other", "1").await;
        let address = format!("/v1/stream/workflows/d?view=client&offset={before}");
        let page = served.get(&address).await;
        assert_eq!(
            (page.status.as_u16(), page.body.as_ref()),
            (200, &b"[]"[..])
        );
        assert!(page.header("stream-next-offset") > before.as_str());
        assert_eq!(page.header("stream-up-to-date"), "true");
    });
}

#[test]
fn each_generation_of_a_run_has_its_own_journal_and_address() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        served.post("/workflows/o/terminate", "").await;
        served.post("/workflows/o/restart", "").await;
        served.wait_for_status("o", "waiting").await;
        let first = served.get("/v1/stream/workflows/o").await;
        assert_eq!(first.header("stream-closed"), "true");
        let records = first.json();
        assert_eq!(types(&records).last(), Some(&"workflow:terminated"));
        let second = served.get("/v1/stream/workflows/o@2").await;
        assert_eq!(second.header("stream-closed"), "");
        assert_eq!(second.json()[0]["value"]["forkedFrom"]["reason"], "restart");
        assert_rejected(
            &served.get("/v1/stream/workflows/o@1").await,
            404,
            "stream_missing",
        );
        assert_rejected(
            &served.get("/v1/stream/workflows/o@3").await,
            404,
            "stream_missing",
        );
    });
}

#[test]
fn clients_cannot_create_close_or_delete_journals() {
    served(async |served| {
        served.start("nap", "n", "9000").await;
        served.test.advance(secs(1)).await;
        let json = [("Content-Type", "application/json")];
        for (method, path) in [
            ("PUT", "workflows/n"),
            ("PUT", "workflows/new"),
            ("DELETE", "workflows/n"),
        ] {
            let answer = send(
                &served.app,
                method,
                &format!("/v1/stream/{path}"),
                &json,
                "",
            )
            .await;
            assert_rejected(&answer, 403, "reserved_stream");
        }
        let closing = [json[0], ("Stream-Closed", "true")];
        let answer = send(&served.app, "POST", "/v1/stream/workflows/n", &closing, "").await;
        assert_rejected(&answer, 403, "reserved_stream");
        let fork = [json[0], ("Stream-Forked-From", "/v1/stream/workflows/n")];
        let answer = send(&served.app, "PUT", "/v1/stream/mine", &fork, "").await;
        assert_rejected(&answer, 403, "reserved_stream");
    });
}

// B765
#[test]
fn a_journal_announces_the_generation_in_which_the_run_continues() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let header = "everstep-next-generation";
        let open = served.get("/v1/stream/workflows/o?view=client").await;
        assert!(!open.headers.contains_key(header));
        // A restart of a run in progress: the last record names the generation.
        served.post("/workflows/o/restart", "{}").await;
        for view in VIEWS {
            let ended = served
                .get(&format!("/v1/stream/workflows/o?view={view}"))
                .await;
            assert_eq!(ended.header("stream-closed"), "true");
            assert_eq!(ended.header(header), "2", "{view}");
            let last = ended.json().as_array().unwrap().last().unwrap().clone();
            assert_eq!(last["value"]["nextGeneration"], 2, "{view}: {last}");
        }
        // A run that has ended: the header names it from then on.
        served.post("/workflows/o/terminate", "{}").await;
        let ended = served.get("/v1/stream/workflows/o@2?view=client").await;
        assert!(!ended.headers.contains_key(header));
        served.post("/workflows/o/recover", "{}").await;
        for method in ["GET", "HEAD"] {
            let ended = send(&served.app, method, "/v1/stream/workflows/o@2", &[], "").await;
            assert_eq!(ended.header(header), "3", "{method}");
        }
    });
}

// B767
#[test]
fn a_record_has_its_number() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let streamed = served.get("/v1/stream/workflows/o").await.json();
        let journal = served.get("/workflows/o/journal").await;
        let journal = std::str::from_utf8(&journal.body).unwrap().lines();
        let numbers = journal.map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["headers"]["number"].clone()
        });
        let streamed = streamed.as_array().unwrap().iter();
        let streamed = streamed.map(|record| record["headers"]["number"].clone());
        assert_eq!(streamed.collect::<Vec<_>>(), numbers.collect::<Vec<_>>());
    });
}
