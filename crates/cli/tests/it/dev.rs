//! `everstep dev` serves this machine, tells what happens, and goes on with what a killed process left behind.

use crate::server::Server;
use crate::{everstep, stderr};

const ADA: &str = r#"{"name":"Ada"}"#;
const PAYMENT: &str = r#"{"customer":"ada","amount":4200}"#;

#[test]
fn what_happens_is_told_as_it_happens() {
    let mut server = Server::told(&["--memory"]);
    let introduction = server.until("Kill this one").join("\n");
    for part in [
        "in memory",
        "everstep start hello",
        "everstep tail",
        "everstep list",
    ] {
        assert!(introduction.contains(part), "{part}: {introduction}");
    }
    let said = server.said(&["start", "hello", ADA, "--id", "hello-1", "--wait"]);
    assert!(said.starts_with("hello-1 is completed: "), "{said}");
    let story = server.until("Run completed").join("\n");
    assert!(
        story.contains("hello-1  Run of workflow `hello`"),
        "{story}"
    );
    assert!(!story.contains('\x1b'), "no colours where nobody looks");
    assert_eq!(server.interrupt(), Some(130));
}

#[test]
fn for_programs_every_record_is_one_line_of_json() {
    let mut server = Server::start(&["dev", "--port", "0", "--memory"]);
    server.said(&["start", "hello", ADA, "--id", "hello-1"]);
    for line in server.until("workflow:completed") {
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["run"], "hello-1");
        assert!(line["record"]["headers"]["timestamp"].is_string(), "{line}");
    }
}

#[test]
fn a_killed_process_is_continued_and_no_finished_step_runs_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let mut first = Server::told(&["--data", data]);
    first.said(&["start", "payment", PAYMENT, "--id", "order-7"]);
    first.until("Step `fetch-user:0` completed");
    first.kill();

    let mut second = Server::told(&["--data", data]);
    let introduction = second.until("Kill this one").join("\n");
    assert!(
        introduction.contains("1 that was left behind goes on"),
        "{introduction}"
    );
    let approval = r#"{"approved":true,"reviewer":"grace"}"#;
    second.said(&["send", "order-7", "approval", approval]);
    let story = second.until("Run completed").join("\n");
    assert!(!story.contains("Step `fetch-user:0`"), "{story}");
    assert!(story.contains("Step `charge:0` completed"), "{story}");
}

#[test]
fn a_directory_in_use_is_refused_with_its_code_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let _first = Server::start(&["dev", "--port", "0", "--data", data]);
    let output = everstep(&["dev", "--port", "0", "--data", data]);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains("[store_locked]"), "{said}");
    assert!(said.contains("Stop the other process"), "{said}");
}

#[test]
fn a_port_in_use_is_refused_with_what_to_do() {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    let port = server.url.rsplit(':').next().unwrap();
    let output = everstep(&["dev", "--port", port, "--memory"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("try another with --port"), "{said}");
}
