//! Commands that speak to a server: what they do, what they print, and how they end.

use crate::server::Server;
use crate::{everstep, stderr, stdout};

const ADA: &str = r#"{"name":"Ada"}"#;
const DINNER: &str =
    r#"{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}"#;

fn server() -> Server {
    Server::start(&["dev", "--port", "0", "--memory"])
}

/// Waits until the run asks for something.
fn asks(server: &mut Server) {
    server.until("workflow:rpc_requested");
}

#[test]
fn a_run_is_started_looked_at_answered_and_waited_for() {
    let mut server = server();
    let started = server.said(&[
        "start",
        "expense",
        DINNER,
        "--id",
        "expense-1",
        "--tag",
        "team",
    ]);
    assert_eq!(started, "expense-1 started\n");
    asks(&mut server);
    let again = server.said(&["start", "expense", DINNER, "--id", "expense-1"]);
    assert_eq!(again, "expense-1 was there already, and is waiting\n");
    let shown = server.said(&["show", "expense-1"]);
    for part in [
        "expense-1 is waiting",
        "file-receipt:0",
        "everstep answer expense-1 approveExpense",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let why = server.said(&["why", "expense-1"]);
    assert!(
        why.contains("waits for an answer to `approveExpense`"),
        "{why}"
    );
    let listed = server.said(&["list", "--tag", "team"]);
    assert!(
        listed.contains("expense-1   expense    waiting"),
        "{listed}"
    );
    let answered = server.said(&[
        "answer",
        "expense-1",
        "approveExpense",
        r#"{"approved":true}"#,
    ]);
    assert_eq!(answered, "expense-1 has its answer\n");
    let ended = server.said(&["show", "expense-1", "--wait"]);
    assert!(ended.starts_with("expense-1 is completed: "), "{ended}");
    assert_eq!(
        server.json(&["show", "expense-1"])["result"]["reimbursed"],
        1500
    );
}

#[test]
fn refusals_have_exit_codes_and_say_what_to_do() {
    let server = server();
    server.said(&["start", "hello", ADA, "--id", "taken", "--wait"]);
    for (arguments, code, part) in [
        (vec!["show", "nobody"], 6, "[unknown_run]"),
        (vec!["start", "nothing"], 6, "[unknown_workflow]"),
        (
            vec!["start", "hello", ADA, "--id", "taken", "--strict"],
            7,
            "[run_exists]",
        ),
        (vec!["start", "hello", "Ada"], 2, "Texts need quotes"),
        (vec!["start", "hello", "{}"], 7, "error: "),
        (vec!["list", "--status", "bogus"], 7, "[invalid_request]"),
        (vec!["pause"], 2, "--dry-run"),
        (vec!["pause", "a", "--status", "failed"], 2, "not both"),
        (vec!["send", "taken", "approval", "1"], 7, "[run_finished]"),
        (vec!["key", "revoke", "0123"], 6, "[unknown_key]"),
        (
            vec!["key", "create", "w", "--scope", "work"],
            7,
            "names its workflows",
        ),
    ] {
        let output = server.run(&arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains(part),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn when_no_server_answers_the_message_says_how_to_start_one() {
    let output = everstep(&["list", "--server", "http://127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(4));
    let said = stderr(&output);
    assert!(
        said.contains("nothing listens at http://127.0.0.1:1"),
        "{said}"
    );
    assert!(said.contains("everstep dev"), "{said}");
}

#[test]
fn many_runs_are_steered_at_once_and_each_is_reported_on() {
    let mut server = server();
    for n in 1..=3 {
        let id = format!("e-{n}");
        server.said(&["start", "expense", DINNER, "--id", &id, "--tag", "batch"]);
        asks(&mut server);
    }
    let would = server.said(&["cancel", "--tag", "batch", "--dry-run"]);
    assert!(
        would.contains("3 runs would get `cancel`; nothing was done"),
        "{would}"
    );
    let paused = server.said(&["pause", "e-1", "e-2"]);
    assert!(paused.contains("2 runs: 2 changed, 0 refused"), "{paused}");
    let report = server.json(&["terminate", "--tag", "batch", "--reason", "enough"]);
    assert_eq!(
        (report["total"].as_u64(), report["changed"].as_u64()),
        (Some(3), Some(3))
    );
    let mixed = server.run(&["pause", "e-1", "nobody"]);
    assert_eq!(mixed.status.code(), Some(7));
    let said = stdout(&mixed);
    assert!(
        said.contains("[unknown_run]") && said.contains("1 refused"),
        "{said}"
    );
    let shown = server.json(&["show", "e-1"]);
    assert_eq!(shown["reason"], "enough");
    let deleted = server.said(&["delete", "e-1"]);
    assert_eq!(deleted, "run `e-1` is deleted; it was terminated\n");
    server.said(&["delete", "--tag", "batch"]);
    let none = server.said(&["list", "--tag", "batch"]);
    assert_eq!(none, "no run passes this filter\n");
}

#[test]
fn a_run_that_did_not_complete_has_an_exit_code_of_its_own() {
    let mut server = server();
    server.said(&["start", "expense", DINNER, "--id", "e"]);
    asks(&mut server);
    server.said(&["fail", "e", "--reason", "no"]);
    let output = server.run(&["show", "e", "--wait"]);
    assert_eq!(output.status.code(), Some(8));
    let said = stdout(&output);
    assert!(
        said.contains("e is failed: ") && said.contains("[forced_failure]"),
        "{said}"
    );
    let restarted = server.said(&["restart", "e"]);
    assert!(restarted.contains("`e`"), "{restarted}");
    asks(&mut server);
    assert_eq!(server.json(&["show", "e"])["generation"], 2);
    let forked = server.json(&["fork", "e", "--id", "f"]);
    assert_eq!(forked["id"], "f");
}

#[test]
fn nothing_that_others_wrote_speaks_to_the_terminal() {
    let server = server();
    let nasty = r#"{"name":"\u001b]0;owned\u0007\u009b31m"}"#;
    server.said(&["start", "hello", nasty, "--id", "n", "--wait"]);
    for arguments in [vec!["list"], vec!["show", "n"]] {
        let said = server.said(&arguments);
        assert!(!said.contains(['\x1b', '\x07', '\u{9b}']), "{said:?}");
    }
}

#[test]
fn a_run_is_followed_to_its_end_and_reads_like_a_story() {
    let server = server();
    server.said(&["start", "expense", DINNER, "--id", "e"]);
    let follower = server.follow(&["tail", "e"]);
    server.said(&["answer", "e", "approveExpense", r#"{"approved":true}"#]);
    let output = follower.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let story = stdout(&output);
    let mut rest = story.as_str();
    for part in [
        "Run of workflow `expense` (version 1) created",
        "Step `file-receipt:0` started",
        "Question `approveExpense:0` asked",
        "answered after",
        "Run completed after",
    ] {
        let (_, behind) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part}: {story}"));
        rest = behind;
    }
    assert_eq!(
        rest.lines().count(),
        1,
        "nothing is told twice, nothing follows the end: {story}"
    );
    let again = server.said(&["tail", "e", "--json"]);
    assert_eq!(again.lines().count(), story.lines().count());
    let nothing = server.said(&["tail", "e", "--from", "now"]);
    assert_eq!(nothing, "");
}

#[test]
fn a_journal_is_exported_as_it_is_kept() {
    let server = server();
    server.said(&["start", "hello", ADA, "--id", "h", "--wait"]);
    let lines = server.said(&["export", "h"]);
    for line in lines.lines() {
        everstep_model::entry_from_json(line).unwrap();
    }
    assert!(lines.lines().count() >= 8, "{lines}");
}
