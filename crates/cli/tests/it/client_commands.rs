//! Client commands: effects, output and exit codes.

use crate::server::Server;
use crate::{everstep, stderr, stdout};

const ADA: &str = r#"{"name":"Ada"}"#;
const PAYMENT: &str = r#"{"customer":"ada","amount":4200}"#;
const APPROVAL: &str = r#"{"approved":true,"reviewer":"grace"}"#;
const DINNER: &str =
    r#"{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}"#;

fn server() -> Server {
    Server::start(&["dev", "--port", "0", "--memory"])
}

/// Waits until a run makes an rpc.
fn wait_for_rpc(server: &mut Server) {
    server.until("workflow:rpc_requested");
}

#[test]
fn a_run_is_started_shown_answered_and_awaited() {
    let mut server = server();
    let started = server.output(&[
        "start",
        "expense",
        DINNER,
        "--id",
        "expense-1",
        "--tag",
        "team",
    ]);
    assert_eq!(started, "expense-1 started\n");
    wait_for_rpc(&mut server);
    let again = server.output(&["start", "expense", DINNER, "--id", "expense-1"]);
    assert_eq!(again, "expense-1 already exists and is waiting\n");
    let shown = server.output(&["show", "expense-1"]);
    for part in [
        "expense-1 is waiting",
        "file-receipt:0",
        "everstep answer expense-1 approveExpense",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let why = server.output(&["why", "expense-1"]);
    assert!(
        why.contains("waits for an answer to `approveExpense`"),
        "{why}"
    );
    // B404
    let sent = [
        "send",
        "expense-1",
        "approveExpense",
        r#"{"approved":true}"#,
    ];
    let refused = server.run(&sent);
    assert_eq!(refused.status.code(), Some(7));
    let advice = "it asks this as an rpc: everstep answer expense-1 approveExpense";
    assert!(stderr(&refused).contains(advice), "{}", stderr(&refused));
    let listed = server.output(&["list", "--tag", "team"]);
    assert!(
        listed.contains("expense-1   expense    waiting"),
        "{listed}"
    );
    let answered = server.output(&[
        "answer",
        "expense-1",
        "approveExpense",
        r#"{"approved":true}"#,
    ]);
    assert_eq!(answered, "answered the rpc of expense-1\n");
    let ended = server.output(&["show", "expense-1", "--wait"]);
    assert!(ended.starts_with("expense-1 is completed: "), "{ended}");
    assert_eq!(
        server.json(&["show", "expense-1"])["result"]["reimbursed"],
        1500
    );
}

// B611
#[test]
fn an_rpc_is_answered_with_a_token_for_its_method() {
    let mut server = server();
    server.output(&["start", "expense", DINNER, "--id", "expense-1"]);
    wait_for_rpc(&mut server);
    let token = server.output(&["token", "expense-1", "--rpc", "approveExpense"]);
    let token = token.trim();
    let why = server.output_with_key(token, &["why", "expense-1"]);
    assert!(why.contains("approveExpense"), "{why}");
    let answer = r#"{"approved":true}"#;
    let answer = ["answer", "expense-1", "approveExpense", answer];
    server.output_with_key(token, &answer);
    let ended = server.output_with_key(token, &["show", "expense-1", "--wait"]);
    assert!(ended.starts_with("expense-1 is completed: "), "{ended}");
}

#[test]
fn errors_have_exit_codes_and_remedies() {
    let server = server();
    server.output(&["start", "hello", ADA, "--id", "taken", "--wait"]);
    server.output(&["start", "payment", PAYMENT, "--id", "stopped"]);
    server.output(&["terminate", "stopped", "--reason", "test"]);
    for (arguments, code, part) in [
        (vec!["show", "nobody"], 6, "[unknown_run]"),
        (vec!["start", "nothing"], 6, "[unknown_workflow]"),
        (
            vec!["start", "hello", ADA, "--id", "taken", "--strict"],
            7,
            "[run_exists]",
        ),
        (
            vec!["start", "hello", "Ada"],
            2,
            "Strings need double quotes",
        ),
        (vec!["start", "hello", "{}"], 7, "error: "),
        (vec!["pause"], 2, "--dry-run"),
        (vec!["pause", "a", "--status", "failed"], 2, "not both"),
        (
            vec!["send", "taken", "approval", "1"],
            7,
            "[event_not_accepted]",
        ),
        (
            vec!["send", "stopped", "approval", APPROVAL],
            7,
            "[run_finished]",
        ),
        (vec!["key", "revoke", "0123"], 6, "[unknown_key]"),
        (
            vec!["key", "create", "r", "--scope", "read", "--reaches", "a"],
            2,
            "only a key with the scope `work`",
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
fn without_a_server_the_message_explains_how_to_start_one() {
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
fn a_verb_applies_to_many_runs_and_reports_each() {
    let mut server = server();
    for n in 1..=3 {
        let id = format!("e-{n}");
        server.output(&["start", "expense", DINNER, "--id", &id, "--tag", "batch"]);
        wait_for_rpc(&mut server);
    }
    let would = server.output(&["cancel", "--tag", "batch", "--dry-run"]);
    assert!(
        would.contains("dry run: `cancel` would apply to 3 runs"),
        "{would}"
    );
    let paused = server.output(&["pause", "e-1", "e-2"]);
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
    let deleted = server.output(&["delete", "e-1"]);
    assert_eq!(deleted, "run `e-1` is deleted; it was terminated\n");
    server.output(&["delete", "--tag", "batch"]);
    let none = server.output(&["list", "--tag", "batch"]);
    assert_eq!(none, "no run matches this filter\n");
}

#[test]
fn waiting_for_a_run_that_fails_has_its_own_exit_code() {
    let mut server = server();
    server.output(&["start", "expense", DINNER, "--id", "e"]);
    wait_for_rpc(&mut server);
    server.output(&["fail", "e", "--reason", "no"]);
    let output = server.run(&["show", "e", "--wait"]);
    assert_eq!(output.status.code(), Some(8));
    let said = stdout(&output);
    assert!(
        said.contains("e is failed: ") && said.contains("[forced_failure]"),
        "{said}"
    );
    let restarted = server.output(&["restart", "e"]);
    assert!(restarted.starts_with("run `e` was restarted as generation 2 and is "));
    wait_for_rpc(&mut server);
    assert_eq!(server.json(&["show", "e"])["generation"], 2);
    let forked = server.json(&["fork", "e", "--id", "f"]);
    assert_eq!(forked["id"], "f");
}

// B556
#[test]
fn control_verbs_say_what_they_did() {
    let mut server = server();
    let start = |server: &mut Server| {
        server.output(&["start", "expense", DINNER, "--id", "e"]);
        wait_for_rpc(server);
    };
    start(&mut server);
    server.output(&["pause", "e"]);
    for (arguments, expected) in [
        (vec!["resume", "e"], "run `e` was resumed and is "),
        (
            vec!["restart", "e", "--from", "file-receipt:0"],
            "run `e` was restarted at `file-receipt:0` as generation 2 and is ",
        ),
    ] {
        let said = server.output(&arguments);
        assert!(said.starts_with(expected), "{said}");
    }
    // The operations of the new generation must be in its journal.
    wait_for_rpc(&mut server);
    let said = server.output(&["fork", "e", "--id", "f", "--from", "file-receipt:0"]);
    let forked = "run `f` was forked from `e` at `file-receipt:0` and is ";
    assert!(said.starts_with(forked), "{said}");
    let failed = ["fail", "e", "--step", "approveExpense:0", "--reason", "no"];
    let said = server.output(&failed);
    assert!(said.starts_with("`approveExpense:0` was made to fail; run `e` is "));
    assert_eq!(server.run(&["show", "e", "--wait"]).status.code(), Some(8));
    let said = server.output(&["recover", "e"]);
    assert!(
        said.starts_with("run `e` was recovered as generation 3 and is "),
        "{said}"
    );
}

// B543
#[test]
fn suggested_commands_reach_the_server_of_the_command() {
    let mut server = server();
    server.output(&["start", "expense", DINNER, "--id", "e"]);
    wait_for_rpc(&mut server);
    let shown = stdout(&everstep(&["show", "e", "--server", &server.url]));
    let line = shown.lines().find(|line| line.contains("everstep answer"));
    let command = line.unwrap().replace(" JSON ", r#" '{"approved":true}' "#);
    server.paste(&command);
    let ended = server.output(&["show", "e", "--wait"]);
    assert!(ended.starts_with("e is completed: "), "{ended}");
}

// B300
#[test]
fn control_characters_in_user_input_are_escaped() {
    let server = server();
    let nasty = "{\"name\":\"\\u001b]0;owned\\u0007\\u009b31m\u{202e}\u{2066}\"}";
    let start = ["start", "hello", nasty, "--id", "n", "--tag", "t\u{200f}"];
    server.output(&[&start[..], &["--wait"]].concat());
    for arguments in [vec!["list"], vec!["show", "n"], vec!["tail", "n"]] {
        let said = server.output(&arguments);
        let nasty = ['\x1b', '\x07', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200f}'];
        assert!(!said.contains(nasty), "{said:?}");
    }
}

#[test]
fn tail_prints_the_timeline_until_the_run_ends() {
    let server = server();
    server.output(&["start", "expense", DINNER, "--id", "e"]);
    let follower = server.spawn_client(&["tail", "e"]);
    server.output(&["answer", "e", "approveExpense", r#"{"approved":true}"#]);
    let output = follower.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let timeline = stdout(&output);
    let mut rest = timeline.as_str();
    for part in [
        "Run of workflow `expense` (version 1) created",
        "Step `file-receipt:0` started",
        "Rpc `approveExpense:0` requested",
        "answered after",
        "Run completed after",
    ] {
        let (_, behind) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part}: {timeline}"));
        rest = behind;
    }
    assert_eq!(
        rest.lines().count(),
        1,
        "no line is repeated or follows the end: {timeline}"
    );
    let again = server.output(&["tail", "e", "--json"]);
    // The text begins with the date.
    assert_eq!(again.lines().count() + 1, timeline.lines().count());
    let nothing = server.output(&["tail", "e", "--from", "now"]);
    assert_eq!(nothing, "");
}

#[test]
fn an_exported_journal_contains_all_records() {
    let server = server();
    server.output(&["start", "hello", ADA, "--id", "h", "--wait"]);
    let lines = server.output(&["export", "h"]);
    for line in lines.lines() {
        everstep_model::entry_from_json(line).unwrap();
    }
    assert!(lines.lines().count() >= 8, "{lines}");
}

// B496
#[test]
fn a_batch_starts_a_run_for_each_line_and_names_the_refused_ones() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.jsonl");
    let lines =
        format!("{{\"id\":\"h-1\",\"input\":{ADA}}}\n\n{{\"id\":\"h-2\",\"input\":{ADA}}}\n");
    std::fs::write(&file, lines).unwrap();
    let batch = ["start", "hello", "--batch", file.to_str().unwrap()];
    assert_eq!(server.output(&batch), "h-1 started\nh-2 started\n");
    std::fs::write(&file, "{\"id\":\"..\"}\n").unwrap();
    let refused = server.run(&batch);
    assert_eq!(refused.status.code(), Some(7), "{refused:?}");
    assert!(
        stdout(&refused).starts_with(".. not started: "),
        "{refused:?}"
    );
    std::fs::write(&file, "{\"id\":1}\n").unwrap();
    let invalid = server.run(&batch);
    assert_eq!(invalid.status.code(), Some(2), "{invalid:?}");
    assert!(
        stderr(&invalid).contains("line 1 of the batch"),
        "{invalid:?}"
    );
}

// B854
#[test]
fn a_similar_workflow_is_suggested() {
    let server = server();
    let refused = server.run(&["start", "helo", ADA]);
    assert_eq!(refused.status.code(), Some(6));
    let said = stderr(&refused);
    assert!(said.contains("[unknown_workflow]"), "{said}");
    assert!(said.contains("Did you mean `hello`?"), "{said}");
    let refused = stderr(&server.run(&["start", "nothing", ADA]));
    assert!(!refused.contains("Did you mean"), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.jsonl");
    std::fs::write(&file, greetings(&["Ada".to_owned()])).unwrap();
    let refused = server.run(&["start", "helo", "--batch", file.to_str().unwrap()]);
    let said = stderr(&refused);
    assert!(said.contains("Did you mean `hello`?"), "{said}");
}

// B832
#[test]
fn an_input_that_does_not_match_is_explained_with_an_example() {
    let server = server();
    let refused = server.run(&["start", "hello", "{}"]);
    assert_eq!(refused.status.code(), Some(7));
    let said = "error: the input of workflow `hello` does not match its schema: the value has no field \
                `name`; an example is {\"name\":\"text\"} [schema_mismatch]\n";
    assert!(stderr(&refused).starts_with(said), "{}", stderr(&refused));
}

/// A batch of one line per name, without ids.
fn greetings(names: &[String]) -> String {
    let lines = names
        .iter()
        .map(|name| format!("{{\"input\":{{\"name\":\"{name}\"}}}}\n"));
    lines.collect()
}

// B850
#[test]
fn a_batch_of_more_than_10_mib_is_sent_in_several_requests() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.jsonl");
    std::fs::write(&file, greetings(&vec!["x".repeat(900_000); 13])).unwrap();
    let batch = ["start", "hello", "--batch", file.to_str().unwrap()];
    assert_eq!(server.output(&batch).matches(" started\n").count(), 13);
}

// B850
#[test]
fn a_batch_that_stops_prints_what_it_did_and_can_be_repeated() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two requests.jsonl");
    // The first 1,000 lines are one request, and the server refuses the second one as a whole.
    let mut lines = greetings(&["Ada".to_owned(), "Bob".to_owned()]);
    lines += &"{\"id\":\"..\"}\n".repeat(998);
    lines += &format!("{{\"input\":{}1{}}}\n", "[".repeat(500), "]".repeat(500));
    std::fs::write(&file, lines).unwrap();
    let batch = ["start", "hello", "--batch", file.to_str().unwrap()];
    let stopped = server.run(&batch);
    assert_eq!(stopped.status.code(), Some(7), "{}", stderr(&stopped));
    assert_eq!(stdout(&stopped).matches(" started\n").count(), 2);
    let said = stderr(&stopped);
    assert!(said.contains("the batch stopped at line 1001; "), "{said}");
    let (_, key) = said.split_once("`--idempotency-key ").unwrap();
    let (key, _) = key.split_once('`').unwrap();
    let again = server.run(&[&batch[..], &["--idempotency-key", key]].concat());
    assert_eq!(stdout(&again).matches(" already exists ").count(), 2);
    assert_eq!(server.output(&["list", "--json"]).lines().count(), 2);
}
