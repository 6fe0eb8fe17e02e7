//! `everstep dev` shows the demo workflows at work, and picks up what a killed process left behind.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::{everstep, stderr, stdout};

#[test]
fn everything_completes_and_is_summed_up_in_a_table() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let output = everstep(&["dev", "--data", data.to_str().unwrap()]);
    let story = stdout(&output);
    assert!(output.status.success(), "{story}{}", stderr(&output));
    assert!(story.contains(data.to_str().unwrap()), "{story}");
    assert!(!story.contains('\x1b'), "no colours where nobody looks");
    let (_, table) = story.split_once("RUN ").unwrap();
    for run in ["hello-1", "payment-1", "expense-1"] {
        let row = table.lines().find(|line| line.starts_with(run)).unwrap();
        assert!(row.contains("completed"), "{row}");
    }
}

#[test]
fn in_memory_every_record_is_one_line_of_json() {
    let output = everstep(&["dev", "--memory", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut completed = 0;
    for line in stdout(&output).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["run"].is_string(), "{line}");
        assert!(line["record"]["headers"]["timestamp"].is_string(), "{line}");
        completed += usize::from(line["record"]["type"] == "workflow:completed");
    }
    assert_eq!(completed, 3);
}

#[test]
fn a_killed_process_is_continued_and_no_finished_step_runs_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let mut first = Command::new(env!("CARGO_BIN_EXE_everstep"))
        .args(["dev", "--data", data])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(first.stdout.take().unwrap()).lines();
    let seen = lines
        .map(Result::unwrap)
        .find(|line| line.contains("Step `fetch-user:0` completed"));
    assert!(seen.is_some());
    first.kill().unwrap();
    first.wait().unwrap();

    let output = everstep(&["dev", "--data", data]);
    let story = stdout(&output);
    assert!(output.status.success(), "{story}{}", stderr(&output));
    assert!(story.contains("left behind"), "{story}");
    assert!(!story.contains("Step `fetch-user:0`"), "{story}");
    assert!(story.contains("Step `charge:0` completed"), "{story}");
}

#[test]
fn a_directory_in_use_is_refused_with_its_code_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let mut first = Command::new(env!("CARGO_BIN_EXE_everstep"))
        .args(["dev", "--data", data])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(first.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map(Result::unwrap)
            .any(|line| line.contains("(version 1) created"))
    );
    let output = everstep(&["dev", "--data", data]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains("[store_locked]"), "{said}");
    assert!(said.contains("Stop the other process"), "{said}");
}
