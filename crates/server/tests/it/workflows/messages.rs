//! Events and answers.

use everstep::secs;
use serde_json::json;

use super::support::{assert_rejected, served};
use crate::support::{JSON, send};

#[test]
fn a_repeated_event_is_accepted_once() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let keyed = [JSON, ("Idempotency-Key", "e1")];
        let address = "/workflows/o/events/approval";
        let body = r#"{"by":"ada"}"#;
        let first = send(&served.app, "POST", address, &keyed, body).await;
        let again = send(&served.app, "POST", address, &keyed, body).await;
        assert_eq!((first.status.as_u16(), again.status.as_u16()), (202, 202));
        assert_eq!(first.json()["outcome"], "accepted");
        assert_eq!(again.json()["outcome"], "duplicate");
        assert_eq!(first.json()["number"], again.json()["number"]);
    });
}

#[test]
fn an_unacceptable_event_is_rejected_with_the_reason() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.start("nap", "n", "1").await;
        served.wait_for_status("n", "completed").await;
        let (to_order, to_nap) = ("/workflows/o/events/", "/workflows/n/events/");
        for (address, body, status, code) in [
            (
                "/workflows/x/events/approval".to_owned(),
                "1",
                404,
                "unknown_run",
            ),
            (format!("{to_order}refund"), "1", 404, "event_not_accepted"),
            (format!("{to_order}approval"), "1", 422, "schema_mismatch"),
            (format!("{to_order}approval"), "{", 400, "invalid_request"),
            (format!("{to_nap}late"), "1", 409, "run_finished"),
            (format!("{to_nap}__x"), "1", 400, "invalid_name"),
        ] {
            assert_rejected(&served.post(&address, body).await, status, code);
        }
    });
}

#[test]
fn a_sender_may_wait_for_the_reply() {
    served(async |served| {
        served.start("doubler", "d", "null").await;
        let reply = served
            .post("/workflows/d/events/double?reply=30s", "21")
            .await;
        assert_eq!(
            (reply.status.as_u16(), &reply.json()["reply"]),
            (200, &json!(42))
        );
        let none = served
            .post("/workflows/d/events/double?reply=30s", "1")
            .await;
        assert_rejected(&none, 409, "no_reply");
        served.start("order", "o", "7").await;
        let late = served
            .post("/workflows/o/events/approval?reply=5s", r#"{"by":"ada"}"#)
            .await;
        assert_eq!(
            (late.status.as_u16(), late.json().get("reply")),
            (202, None)
        );
    });
}

#[test]
fn the_first_valid_answer_wins() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served
            .post("/workflows/o/events/approval", r#"{"by":"ada"}"#)
            .await;
        served.test.advance(secs(1)).await;
        let run = served.get("/workflows/o").await.json();
        let rpc = run["rpcs"][0]["id"].as_str().unwrap();
        let address = format!("/workflows/o/rpc/{rpc}");
        assert_rejected(
            &served.post(&address, r#""perhaps""#).await,
            422,
            "schema_mismatch",
        );
        assert_rejected(
            &served.post("/workflows/o/rpc/rpc_0", "true").await,
            404,
            "rpc_not_open",
        );
        assert_rejected(
            &served.post("/workflows/x/rpc/rpc_0", "true").await,
            404,
            "unknown_run",
        );
        let keyed = [JSON, ("Idempotency-Key", "a1")];
        let answered = send(&served.app, "POST", &address, &keyed, "true").await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["outcome"]),
            (200, &json!("accepted"))
        );
        assert_rejected(&served.post(&address, "false").await, 409, "rpc_not_open");
        let again = send(&served.app, "POST", &address, &keyed, "true").await;
        assert_eq!(
            (again.status.as_u16(), &again.json()["outcome"]),
            (200, &json!("duplicate"))
        );
        let over = served.get("/workflows/o?wait=5s").await.json();
        assert_eq!(over["result"], json!(["ada", true]));
    });
}
