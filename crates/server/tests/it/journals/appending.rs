//! Appends of events and answers to journals.

use serde_json::json;

use crate::support::{JSON, Response, send};
use crate::workflows::support::{Served, assert_rejected, served};

async fn append(served: &Served, headers: &[(&str, &str)], body: &str) -> Response {
    let headers = [&[JSON], headers].concat();
    send(
        &served.app,
        "POST",
        "/v1/stream/workflows/o",
        &headers,
        body.to_owned(),
    )
    .await
}

const APPROVAL: &str = r#"{"type":"workflow:event","key":"x","value":{"name":"approval","payload":{"by":"ada"}},
    "headers":{"operation":"insert","txid":"t1"}}"#;

#[test]
fn an_appended_event_and_answer_resume_the_run() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let before = served.wait_for_status("o", "waiting").await;
        assert_eq!(before["rpcs"], json!([]));
        let sent = append(&served, &[], APPROVAL).await;
        assert_eq!(sent.status, 204);
        let end = sent.header("stream-next-offset").to_owned();
        let page = served.get("/v1/stream/workflows/o").await.json();
        let event = page
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["type"] == "workflow:event");
        assert_eq!(event.unwrap()["headers"]["txid"], "t1");
        assert_eq!(event.unwrap()["value"]["payload"], json!({"by": "ada"}));
        let rest = served
            .get(&format!("/v1/stream/workflows/o?offset={end}"))
            .await
            .json();
        assert!(
            rest.as_array()
                .unwrap()
                .iter()
                .all(|row| row["type"] != "workflow:event")
        );
        served.test.advance(everstep::secs(1)).await;
        let run = served.get("/workflows/o").await.json();
        let rpc = run["rpcs"][0]["id"].as_str().unwrap();
        let answer = format!(
            r#"[{{"type":"workflow:rpc_answered","value":{{"rpcId":"{rpc}","answer":true}}}}]"#
        );
        assert_eq!(append(&served, &[], &answer).await.status, 204);
        let over = served.wait_for_status("o", "completed").await;
        assert_eq!(over["result"], json!(["ada", true]));
        let late = append(&served, &[], APPROVAL).await;
        assert_rejected(&late, 409, "stream_closed");
        assert_eq!(late.header("stream-closed"), "true");
        let producer = [
            ("Producer-Id", "p"),
            ("Producer-Epoch", "0"),
            ("Producer-Seq", "7"),
        ];
        let late = append(&served, &producer, APPROVAL).await;
        assert_eq!(late.header("producer-expected-seq"), "7");
    });
}

#[test]
fn a_repeated_append_of_a_producer_takes_effect_once() {
    served(async |served| {
        served.start("doubler", "o", "null").await;
        let body = r#"[{"type":"workflow:event","value":{"name":"other","payload":1}},
            {"type":"workflow:event","value":{"name":"other","payload":1}}]"#;
        let producer = |seq| {
            [
                ("Producer-Id", "p"),
                ("Producer-Epoch", "0"),
                ("Producer-Seq", seq),
            ]
        };
        let first = append(&served, &producer("0"), body).await;
        let again = append(&served, &producer("0"), body).await;
        assert_eq!((first.status.as_u16(), again.status.as_u16()), (200, 204));
        assert_eq!(
            first.header("stream-next-offset"),
            again.header("stream-next-offset")
        );
        assert_eq!(
            (again.header("producer-epoch"), again.header("producer-seq")),
            ("0", "0")
        );
        let next = append(&served, &producer("1"), body).await;
        assert_eq!(next.status, 200);
        let page = served.get("/v1/stream/workflows/o").await.json();
        let events = page
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["type"] == "workflow:event");
        assert_eq!(events.count(), 4);
    });
}

#[test]
fn a_repeated_answer_of_a_producer_is_a_duplicate() {
    served(async |served| {
        served.start("order", "o", "7").await;
        append(&served, &[], APPROVAL).await;
        served.test.advance(everstep::secs(1)).await;
        let run = served.get("/workflows/o").await.json();
        let rpc = run["rpcs"][0]["id"].as_str().unwrap();
        let answer = format!(
            r#"{{"type":"workflow:rpc_answered","value":{{"rpcId":"{rpc}","answer":true}}}}"#
        );
        let producer = [
            ("Producer-Id", "p"),
            ("Producer-Epoch", "0"),
            ("Producer-Seq", "0"),
        ];
        // The second request is in flight before the run ends.
        let (first, again) = tokio::join!(
            append(&served, &producer, &answer),
            append(&served, &producer, &answer)
        );
        assert_eq!(
            (first.status.as_u16(), again.status.as_u16()),
            (200, 204),
            "{again:?}"
        );
    });
}

#[test]
fn appends_to_journals_are_validated_like_api_requests() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let event = |name: &str, payload: &str| {
            format!(
                r#"{{"type":"workflow:event","value":{{"name":"{name}","payload":{payload}}}}}"#
            )
        };
        for (body, status, code) in [
            (event("refund", "1"), 404, "event_not_accepted"),
            (event("approval", "1"), 422, "schema_mismatch"),
            (
                r#"{"type":"workflow:completed","value":{"result":1}}"#.to_owned(),
                403,
                "reserved_stream",
            ),
            (
                r#"{"type":"workflow:rpc_answered","value":{"rpcId":"rpc_0","answer":1}}"#
                    .to_owned(),
                409,
                "rpc_not_open",
            ),
            ("[]".to_owned(), 400, "invalid_stream_request"),
            ("{".to_owned(), 400, "invalid_stream_request"),
        ] {
            assert_rejected(&append(&served, &[], &body).await, status, code);
        }
        let seq = [("Stream-Seq", "1")];
        assert_rejected(
            &append(&served, &seq, APPROVAL).await,
            400,
            "invalid_stream_request",
        );
        let text = [("Content-Type", "text/plain")];
        let text = send(
            &served.app,
            "POST",
            "/v1/stream/workflows/o",
            &text,
            APPROVAL,
        )
        .await;
        assert_rejected(&text, 409, "stream_type");
        let page = served.get("/v1/stream/workflows/o").await.json();
        assert!(
            page.as_array()
                .unwrap()
                .iter()
                .all(|row| row["type"] != "workflow:event")
        );
    });
}

// B488
#[test]
fn a_rejected_append_says_how_many_of_its_records_were_taken() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let unknown = r#"{"type":"workflow:rpc_answered","value":{"rpcId":"none","answer":1}}"#;
        let refused = append(&served, &[], &format!("[{APPROVAL},{unknown}]")).await;
        assert!(refused.status.is_client_error(), "{refused:?}");
        assert_eq!(refused.json()["appended"], 1);
        let page = served.get("/v1/stream/workflows/o").await.json();
        let rows = page.as_array().unwrap().iter();
        let events = rows.filter(|row| row["type"] == "workflow:event");
        assert_eq!(events.count(), 1);
        let alone = append(&served, &[], unknown).await;
        assert_eq!(alone.json()["appended"], json!(null));
    });
}

// B849
#[test]
fn an_append_without_a_key_is_recorded_under_the_actor_that_it_names() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let actor = ("Everstep-Actor", "Ada%20L.");
        assert_eq!(append(&served, &[actor], APPROVAL).await.status, 204);
        served.test.advance(everstep::secs(1)).await;
        let run = served.get("/workflows/o").await.json();
        let rpc = run["rpcs"][0]["id"].as_str().unwrap();
        let answer =
            json!({"type": "workflow:rpc_answered", "value": {"rpcId": rpc, "answer": true}});
        let answer = answer.to_string();
        assert_eq!(append(&served, &[actor], &answer).await.status, 204);
        let lines = served.get("/workflows/o/timeline").await.json();
        let lines = lines.as_array().unwrap().iter();
        let written = lines.filter(|line| {
            let kind = line["kind"].as_str().unwrap();
            kind == "event" || kind == "rpc_answered"
        });
        let actors: Vec<_> = written.map(|line| line["by"].as_str()).collect();
        assert_eq!(actors, [Some("Ada L."), Some("Ada L.")]);
    });
}
