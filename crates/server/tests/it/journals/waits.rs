//! Rows of what a run waits for.

use everstep::secs;
use serde_json::json;

use super::rows::{of, rows};
use crate::workflows::support::served;

// B760
#[test]
fn a_sleep_has_a_row_until_it_ends() {
    served(async |served| {
        served.start("nap", "n", "60").await;
        let run = served.wait_for_status("n", "sleeping").await;
        for view in ["state", "client"] {
            let open = rows(&served, &format!("n?view={view}")).await;
            assert_eq!(of(&open, "workflow")[0]["status"], "sleeping", "{view}");
            let wait = &run["waitingFor"][0];
            let row = json!({
                "id": "nap:0", "kind": "sleep", "name": "nap", "events": [],
                "since": wait["since"], "deadline": wait["deadline"],
            });
            assert_eq!(of(&open, "wait"), [&row], "{view}");
        }
        served.test.advance(secs(61)).await;
        served.wait_for_status("n", "completed").await;
        for view in ["state", "client"] {
            let ended = rows(&served, &format!("n?view={view}")).await;
            assert_eq!(of(&ended, "wait").len(), 0, "{view}");
            assert_eq!(of(&ended, "workflow")[0]["result"], 60, "{view}");
        }
    });
}

// B760
#[test]
fn a_wait_for_an_event_has_a_row_until_the_event_is_there() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        for view in ["state", "client"] {
            let open = rows(&served, &format!("o?view={view}")).await;
            let wait = of(&open, "wait")[0];
            assert_eq!(
                (&wait["kind"], &wait["events"]),
                (&json!("event"), &json!(["approval"]))
            );
        }
        let approval = r#"{"by":"ada"}"#;
        served.post("/workflows/o/events/approval", approval).await;
        served.test.advance(secs(1)).await;
        for view in ["state", "client"] {
            let later = rows(&served, &format!("o?view={view}")).await;
            assert_eq!(of(&later, "wait").len(), 0, "{view}");
            assert_eq!(of(&later, "rpc").len(), 1, "{view}");
            assert_eq!(of(&later, "workflow")[0]["status"], "waiting", "{view}");
        }
    });
}

// B761
#[test]
fn a_question_of_a_run_that_was_terminated_has_no_row() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let approval = r#"{"by":"ada"}"#;
        served.post("/workflows/o/events/approval", approval).await;
        served.wait_for_status("o", "waiting").await;
        served
            .post("/workflows/o/terminate", r#"{"reason":"moved"}"#)
            .await;
        for view in ["state", "client"] {
            let ended = rows(&served, &format!("o?view={view}")).await;
            assert_eq!(of(&ended, "rpc").len(), 0, "{view}");
            assert_eq!(of(&ended, "workflow")[0]["status"], "terminated", "{view}");
        }
    });
}

// B761
#[test]
fn a_question_that_lost_a_race_has_no_row() {
    served(async |served| {
        served.start("impatient", "i", "null").await;
        served.wait_for_status("i", "waiting").await;
        for view in ["state", "client"] {
            let open = rows(&served, &format!("i?view={view}")).await;
            assert_eq!(of(&open, "rpc").len(), 1, "{view}");
        }
        served.test.advance(secs(61)).await;
        let run = served.wait_for_status("i", "waiting").await;
        assert_eq!(run["rpcs"], json!([]));
        for view in ["state", "client"] {
            let later = rows(&served, &format!("i?view={view}")).await;
            assert_eq!(of(&later, "rpc").len(), 0, "{view}");
            assert_eq!(
                of(&later, "wait").len(),
                1,
                "{view}: the wait after the race"
            );
        }
    });
}

// B764
#[test]
fn a_reader_that_begins_at_any_offset_receives_the_same_changes() {
    served(async |served| {
        served.start("order", "o", "7").await;
        let approval = r#"{"by":"ada"}"#;
        served.post("/workflows/o/events/later", "1").await;
        served.post("/workflows/o/events/approval", approval).await;
        served.wait_for_status("o", "waiting").await;
        served.post("/workflows/o/pause", "{}").await;
        served.test.advance(secs(1)).await;
        served.post("/workflows/o/resume", "{}").await;
        served.test.advance(secs(1)).await;
        served.post("/workflows/o/terminate", "{}").await;
        let journal = served.get("/workflows/o/journal").await;
        let records = std::str::from_utf8(&journal.body).unwrap().lines().count();
        for view in ["full", "state", "client"] {
            let path = format!("/v1/stream/workflows/o?view={view}");
            let all = served.get(&path).await.json();
            let all = all.as_array().unwrap();
            let term = "0000000000000000";
            for number in 0..=records {
                let offset = format!("{term}_{number:016}");
                let page = served.get(&format!("{path}&offset={offset}")).await;
                assert_eq!(page.status, 200, "{page:?}");
                let rest = page.json();
                let rest = rest.as_array().unwrap();
                assert!(all.ends_with(rest), "{view} from {number}: {rest:?}");
            }
        }
    });
}
