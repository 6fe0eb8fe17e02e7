//! Control commands that succeed, until the run ends as they promise.

use serde_json::json;

use crate::server::Server;
use crate::worker::TestWorker;

const TEA: &str = r#"{"item":"tea","amount":3}"#;

fn server_and_worker() -> (Server, TestWorker) {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    let worker = TestWorker::connect(&server);
    (server, worker)
}

/// Waits for the end of a run, and returns the run.
fn end_of(server: &Server, run: &str, exit_code: i32) -> serde_json::Value {
    let waited = server.run(&["show", run, "--wait"]);
    assert_eq!(waited.status.code(), Some(exit_code), "{waited:?}");
    server.json(&["show", run])
}

/// Starts a run and waits until its only step is in flight.
fn start_endless(server: &mut Server, run: &str) {
    server.output(&["start", "endless", "--id", run]);
    server.until("workflow:step_started");
}

// B630
#[test]
fn a_failed_run_is_recovered_and_completes() {
    let (server, worker) = server_and_worker();
    worker.bank.release();
    let start = ["start", "transfer", "7", "--id", "t", "--wait"];
    assert_eq!(server.run(&start).status.code(), Some(8));
    worker.bank.accept();
    let said = server.output(&["recover", "t"]);
    assert!(said.starts_with("run `t` was recovered as generation 2 and is "));
    let ended = end_of(&server, "t", 0);
    assert_eq!(
        (&ended["status"], &ended["result"]),
        (&json!("completed"), &json!(7))
    );
}

// B630
#[test]
fn a_failed_rollback_is_repeated_and_completes() {
    let (server, worker) = server_and_worker();
    let start = ["start", "transfer", "7", "--id", "t", "--wait"];
    assert_eq!(server.run(&start).status.code(), Some(8));
    assert_eq!(server.json(&["show", "t"])["status"], "rollback_failed");
    worker.bank.release();
    let said = server.output(&["retry-rollback", "t"]);
    assert!(said.starts_with("run `t` was continued as generation 2, which repeats the rollback"));
    let ended = end_of(&server, "t", 8);
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["steps"][0]["status"], "undone");
}

// B630, B831
#[test]
fn a_step_in_flight_is_skipped_edited_or_failed() {
    let (mut server, _worker) = server_and_worker();
    for (run, request, said, result) in [
        ("a", vec!["skip", "a", "work"], "was skipped", json!(null)),
        (
            "b",
            vec!["skip", "b", "work:0", "\"by hand\""],
            "was skipped",
            json!("by hand"),
        ),
        (
            "c",
            vec!["edit", "c", "work:0", "\"by hand\""],
            "got a result",
            json!("by hand"),
        ),
    ] {
        start_endless(&mut server, run);
        let expected = format!("`work:0` {said}; run `{run}` is ");
        let printed = server.output(&request);
        assert!(printed.starts_with(&expected), "{printed}");
        let ended = end_of(&server, run, 0);
        assert_eq!(
            (&ended["status"], &ended["result"]),
            (&json!("completed"), &result)
        );
    }
    for (run, step) in [("d", "work:0"), ("e", "work")] {
        start_endless(&mut server, run);
        server.output(&["fail", run, "--step", step, "--reason", "no"]);
        let ended = end_of(&server, run, 8);
        assert_eq!(ended["error"]["message"], "no");
    }
}

// B630
#[test]
fn edit_needs_a_result() {
    let (mut server, _worker) = server_and_worker();
    start_endless(&mut server, "e");
    let refused = server.run(&["edit", "e", "work:0"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = crate::stderr(&refused);
    assert!(said.contains("JSON") && said.contains("--file"), "{said}");
}

// B614, B630
#[test]
fn a_run_is_restarted_or_forked_from_a_step_with_another_result() {
    let (server, _worker) = server_and_worker();
    server.output(&["start", "price", "100", "--id", "p", "--wait"]);
    server.output(&[
        "fork", "p", "--id", "f", "--from", "quote", "--result", "50",
    ]);
    assert_eq!(end_of(&server, "f", 0)["result"], 60);
    let shown = server.output(&["show", "f"]);
    assert!(shown.contains("forked     from p at quote:0"), "{shown}");
    server.output(&["fork", "p", "--id", "g", "--from", "tax:0"]);
    assert_eq!(end_of(&server, "g", 0)["result"], 120);
    assert_eq!(server.json(&["show", "p"])["result"], 120);
    server.output(&["restart", "p", "--from", "quote:0", "--result", "200"]);
    let restarted = end_of(&server, "p", 0);
    assert_eq!(
        (&restarted["generation"], &restarted["result"]),
        (&json!(2), &json!(240))
    );
    let shown = server.output(&["show", "p"]);
    assert!(
        shown.contains("restarted  from generation 1 at quote:0"),
        "{shown}"
    );
}

// B630
#[test]
fn a_run_is_cancelled_with_or_without_a_rollback() {
    let mut server = Server::start(&["dev", "--port", "0", "--memory"]);
    for (run, flags, step) in [
        ("o-1", vec![], "undone"),
        ("o-2", vec!["--no-rollback"], "completed"),
    ] {
        server.output(&["start", "order", TEA, "--id", run]);
        server.until("workflow:waiting");
        let cancel = [&["cancel", run, "--reason", "no tea"], flags.as_slice()].concat();
        server.output(&cancel);
        let ended = end_of(&server, run, 8);
        assert_eq!(
            (&ended["status"], &ended["reason"]),
            (&json!("cancelled"), &json!("no tea"))
        );
        assert_eq!(ended["steps"][0]["status"], step);
    }
}
