//! Logs of servers.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::serve::key;
use crate::{command, everstep, stderr};

const ADA: &str = r#"{"name":"Ada"}"#;

/// Runs `everstep serve` until SIGTERM, with a run and a refused request. Returns stdout and
/// stderr.
fn served(options: &[&str]) -> (String, String) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let admin = key(data, "admin");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data, "--demo"];
    let mut child = command(&[&serve[..], options].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut printed = lines.next().unwrap().unwrap();
    let url = printed
        .split(['"', ' '])
        .find(|word| word.starts_with("http://"));
    let url = url.unwrap().to_owned();
    let start = ["start", "hello", ADA, "--id", "h", "--wait"];
    let client = ["--server", &url, "--key", &admin];
    assert!(everstep(&[&start[..], &client].concat()).status.success());
    assert_eq!(everstep(&["list", "--server", &url]).status.code(), Some(5));
    let id = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-s", "TERM", &id])
        .status()
        .unwrap();
    for line in lines {
        printed.push('\n');
        printed.push_str(&line.unwrap());
    }
    (printed, stderr(&child.wait_with_output().unwrap()))
}

// B553, B554
#[test]
fn every_line_of_a_server_is_an_object_with_the_json_format() {
    let (printed, log) = served(&["--log", "info", "--log-format", "json"]);
    let objects = |text: &str| -> Vec<Value> {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let printed = objects(&printed);
    assert!(printed[0]["listening"].is_string(), "{printed:?}");
    assert_eq!(printed[1]["shuttingDown"], true);
    let log = objects(&log);
    let find = |message| {
        let mut found = log.iter().filter(|line| line["message"] == message);
        let line = found.next().unwrap_or_else(|| panic!("{message}: {log:?}"));
        assert!(found.next().is_none(), "{message}: {log:?}");
        line
    };
    assert!(find("listening")["url"].is_string());
    assert_eq!(find("run started")["run"], "h");
    assert_eq!(find("run started")["workflow"], "hello");
    assert_eq!(find("run ended")["status"], "completed");
    assert_eq!(find("request refused")["code"], "unauthenticated");
    assert_eq!(find("request refused")["route"], "/workflows");
}

// B554
#[test]
fn by_default_only_warnings_are_logged() {
    let (printed, log) = served(&[]);
    assert_eq!(log, "");
    assert!(printed.starts_with("serving http://"), "{printed}");
    assert!(printed.ends_with("shutting down; unfinished runs continue after the next start"));
}

// B553
#[test]
fn errors_of_a_server_are_objects_with_the_json_format() {
    let serve = ["serve", "--roles", "api", "--log-format", "json"];
    let output = everstep(&serve);
    assert_eq!(output.status.code(), Some(2));
    let report: Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!(report["error"]["exitCode"], 2);
}
