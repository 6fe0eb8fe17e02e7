//! Control of one run.

use everstep::secs;
use everstep_server::{Options, router};
use serde_json::json;

use super::support::{assert_rejected, served};
use crate::support::{JSON, engine_on, send, store};

#[test]
fn pause_resume_and_cancel_report_their_outcome() {
    served(async |served| {
        served.start("nap", "n", "60").await;
        let paused = served
            .post("/workflows/n/pause", r#"{"reason":"lunch"}"#)
            .await;
        assert_eq!(paused.status, 200);
        let paused = paused.json();
        assert_eq!(
            (&paused["changed"], &paused["effect"]),
            (&json!(true), &json!("done"))
        );
        served.wait_for_status("n", "paused").await;
        let again = served.post("/workflows/n/pause", "").await.json();
        assert_eq!(
            (&again["changed"], &again["effect"]),
            (&json!(false), &json!("paused"))
        );
        assert_eq!(
            served.post("/workflows/n/resume", "").await.json()["changed"],
            true
        );
        let cancelled = served
            .post("/workflows/n/cancel", r#"{"rollback":false}"#)
            .await;
        assert_eq!(cancelled.json()["changed"], true);
        served.wait_for_status("n", "cancelled").await;
        let late = served.post("/workflows/n/cancel", "").await.json();
        assert_eq!(
            (&late["changed"], &late["effect"]),
            (&json!(false), &json!("finished"))
        );
    });
}

#[test]
fn an_ended_run_can_be_restarted_recovered_forked_and_deleted() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        let failed = served
            .post("/workflows/o/fail", r#"{"reason":"broken"}"#)
            .await;
        assert_eq!(failed.status, 200);
        let run = served.wait_for_status("o", "failed").await;
        assert_eq!(run["error"]["code"], "forced_failure");
        let recovered = served.post("/workflows/o/recover", "").await.json();
        assert_eq!(
            (&recovered["changed"], &recovered["generation"]),
            (&json!(true), &json!(2))
        );
        let run = served.wait_for_status("o", "waiting").await;
        assert_eq!(run["stream"], "/v1/stream/workflows/o@2");
        let fork = r#"{"id":"twin","from":"reserve:0","result":9}"#;
        let forked = served.post("/workflows/o/fork", fork).await;
        assert_eq!(
            (forked.status.as_u16(), &forked.json()["id"]),
            (200, &json!("twin"))
        );
        let twin = served.wait_for_status("twin", "waiting").await;
        assert_eq!(twin["steps"][0]["result"], 9);
        let restart = r#"{"from":"reserve:0","result":8}"#;
        assert_eq!(
            served.post("/workflows/o/restart", restart).await.json()["generation"],
            3
        );
        let run = served.wait_for_status("o", "waiting").await;
        assert_eq!(run["steps"][0]["result"], 8);
        let ended = served
            .post("/workflows/o/terminate", r#"{"reason":"enough"}"#)
            .await
            .json();
        assert_eq!(ended["status"], "terminated");
        let nothing = served.post("/workflows/o/retry-rollback", "").await.json();
        assert_eq!(nothing["effect"], "rollback_did_not_fail");
        let deleted = send(&served.app, "DELETE", "/workflows/o", &[], "").await;
        assert_eq!(deleted.status, 200);
        assert_rejected(&served.get("/workflows/o").await, 404, "unknown_run");
    });
}

// B630
#[test]
fn a_rollback_is_repeated_until_it_completes_and_the_run_recovered_until_it_completes() {
    served(async |served| {
        served.start("fragile", "f", "7").await;
        let run = served.wait_for_status("f", "rollback_failed").await;
        let error = &run["rollbackError"]["message"];
        assert_eq!(error, "step `reserve:0` could not be undone: broken");
        let repeated = served.post("/workflows/f/retry-rollback", "").await.json();
        assert_eq!(
            (&repeated["changed"], &repeated["generation"]),
            (&json!(true), &json!(2))
        );
        let run = served.wait_for_status("f", "failed").await;
        assert_eq!(run["steps"][0]["status"], "undone");
        let recovered = served.post("/workflows/f/recover", "{}").await.json();
        assert_eq!(recovered["generation"], 3);
        let run = served.wait_for_status("f", "completed").await;
        assert_eq!(run["result"], 7);
    });
}

// B630
#[test]
fn a_copy_runs_to_its_end_with_the_result_that_the_request_sets() {
    served(async |served| {
        served.start("fragile", "f", "7").await;
        served.wait_for_status("f", "rollback_failed").await;
        let fork = r#"{"id":"g","from":"transfer:0"}"#;
        assert_eq!(served.post("/workflows/f/fork", fork).await.status, 200);
        let run = served.wait_for_status("g", "completed").await;
        assert_eq!(run["result"], 7);
        let restart = r#"{"from":"transfer:0","result":null}"#;
        let restarted = served.post("/workflows/g/restart", restart).await.json();
        assert_eq!(restarted["generation"], 2);
        let run = served.wait_for_status("g", "completed").await;
        assert_eq!((&run["result"], &run["generation"]), (&json!(7), &json!(2)));
    });
}

// B630
#[test]
fn cancelling_undoes_completed_steps_by_default() {
    served(async |served| {
        for (id, body, step) in [
            ("a", "", "undone"),
            ("b", "{}", "undone"),
            ("c", r#"{"rollback":false}"#, "completed"),
        ] {
            served.start("booked", id, "null").await;
            served.wait_for_status(id, "sleeping").await;
            let address = format!("/workflows/{id}/cancel");
            let cancelled = served.post(&address, body).await;
            assert_eq!(
                (cancelled.status.as_u16(), &cancelled.json()["changed"]),
                (200, &json!(true))
            );
            let run = served.wait_for_status(id, "cancelled").await;
            assert_eq!(run["steps"][0]["status"], step);
        }
    });
}

// B183, B630, B631
#[test]
fn a_step_is_skipped_edited_or_failed_by_its_location() {
    served(async |served| {
        for (run, verb, body, status, result) in [
            (
                "a",
                "skip",
                r#"{"result":"skipped"}"#,
                "completed",
                json!("skipped"),
            ),
            ("b", "skip", "{}", "completed", json!(null)),
            ("c", "skip", "", "completed", json!(null)),
            (
                "d",
                "edit",
                r#"{"result":"edited"}"#,
                "completed",
                json!("edited"),
            ),
            ("e", "fail", r#"{"reason":"no"}"#, "failed", json!(null)),
        ] {
            served.start("slow", run, "null").await;
            served.test.advance(secs(1)).await;
            let view = served.get(&format!("/workflows/{run}")).await.json();
            let location = view["steps"][0]["id"].as_str().unwrap().to_owned();
            assert!(location.contains('/'), "{location}");
            let address = format!(
                "/workflows/{run}/steps/{}/{verb}",
                location.replace('/', "%2F")
            );
            let done = served.post(&address, body).await;
            assert_eq!(
                (done.status.as_u16(), &done.json()["changed"]),
                (200, &json!(true))
            );
            let ended = served.wait_for_status(run, status).await;
            assert_eq!(ended["result"], result);
        }
    });
}

// B831
#[test]
fn an_operation_is_named_without_its_scope_and_counter_if_that_is_unique() {
    served(async |served| {
        for (run, step) in [("a", "work"), ("b", "way/long/work")] {
            served.start("slow", run, "null").await;
            served.test.advance(secs(1)).await;
            let address = format!("/workflows/{run}/steps/{}/skip", step.replace('/', "%2F"));
            assert_eq!(served.post(&address, "").await.status, 200, "{step}");
            let ended = served.wait_for_status(run, "completed").await;
            let location = &ended["steps"][0]["id"];
            assert!(location.as_str().unwrap().ends_with("/work:0"));
        }
        let restarted = served
            .post("/workflows/a/restart", r#"{"from":"way"}"#)
            .await;
        assert_eq!(restarted.json()["generation"], 2, "{restarted:?}");
        let fork = served
            .post("/workflows/b/fork", r#"{"id":"c","from":"way"}"#)
            .await;
        assert_eq!(fork.json()["id"], "c", "{fork:?}");
    });
}

// B183
#[tokio::test]
async fn a_step_is_not_settled_without_a_key() {
    let app = router(engine_on(&store()).await, Options::default());
    for verb in ["skip", "edit", "fail"] {
        let address = format!("/workflows/s/steps/work:0/{verb}");
        let answer = send(&app, "POST", &address, &[JSON], "{}").await;
        assert_rejected(&answer, 401, "unauthenticated");
    }
}

// B183, B859
#[test]
fn an_invalid_body_or_query_of_a_skip_changes_nothing() {
    served(async |served| {
        served.start("slow", "s", "null").await;
        served.test.advance(secs(1)).await;
        let skip = "/workflows/s/steps/work/skip";
        for (query, body) in [
            ("", "{"),
            ("", "1"),
            ("", r#"{"result":1,"rollback":true}"#),
            ("", r#"{"reason":1}"#),
            ("?result=1", ""),
        ] {
            let answer = served.post(&format!("{skip}{query}"), body).await;
            assert_rejected(&answer, 400, "invalid_request");
        }
        assert_eq!(served.post(skip, "").await.status, 200);
    });
}

#[test]
fn invalid_control_requests_are_rejected() {
    served(async |served| {
        served.start("slow", "s", "null").await;
        served.test.advance(secs(1)).await;
        for (address, body, status, code) in [
            (
                "/workflows/s/steps/nothing:0/skip",
                r#"{"result":1}"#,
                404,
                "unknown_operation",
            ),
            (
                "/workflows/s/steps/nothing/skip",
                r#"{"result":1}"#,
                404,
                "unknown_operation",
            ),
            (
                "/workflows/s/steps/~x%2Fwork:0/skip",
                r#"{"result":1}"#,
                400,
                "invalid_request",
            ),
            (
                "/workflows/s/steps/nothing:0/edit",
                "{}",
                400,
                "invalid_request",
            ),
            (
                "/workflows/s/pause",
                r#"{"rollback":true}"#,
                400,
                "invalid_request",
            ),
            (
                "/workflows/s/restart",
                r#"{"result":1}"#,
                400,
                "invalid_request",
            ),
            ("/workflows/x/pause", "", 404, "unknown_run"),
        ] {
            assert_rejected(&served.post(address, body).await, status, code);
        }
    });
}
