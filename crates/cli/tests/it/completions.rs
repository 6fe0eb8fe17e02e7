//! Completion in a shell.
#![cfg(unix)]

use std::path::Path;

use crate::server::Server;
use crate::{program, stderr, stdout};

/// Returns what bash offers after these words, the last of which is unfinished.
fn completed(words: &[&str], environment: &[(&str, &str)]) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_everstep"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let last = quoted.last().unwrap();
    let script = format!(
        "source <(everstep completions bash); COMP_WORDS=(everstep {}); COMP_CWORD={}; COMP_TYPE=9; \
         complete -p everstep > /dev/null && _clap_complete_everstep everstep {last} ''; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len(),
    );
    let mut shell = program("bash");
    shell.args(["--norc", "-c", &script]).env("PATH", path);
    let output = shell.envs(environment.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "", "{words:?}");
    stdout(&output).lines().map(str::to_owned).collect()
}

// B830
#[test]
fn statuses_codes_and_commands_are_completed_without_a_server() {
    assert_eq!(completed(&["tim"], &[]), ["timeline"]);
    assert_eq!(completed(&["list", "--status", "comp"], &[]), ["completed"]);
    assert_eq!(
        completed(&["list", "--status", "failed,comp"], &[]),
        ["failed,completed"]
    );
    assert_eq!(completed(&["explain", "store_l"], &[]), ["store_locked"]);
    let nowhere = [("EVERSTEP_SERVER", "http://127.0.0.1:1")];
    assert_eq!(completed(&["show", "order"], &nowhere), [""]);
}

// B830
#[test]
fn runs_and_workflows_of_the_server_are_completed() {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    for id in ["ada-1", "ada-2", "grace-1"] {
        server.output(&["start", "hello", r#"{"name":"Ada"}"#, "--id", id]);
    }
    let environment = [("EVERSTEP_SERVER", server.url.as_str())];
    for command in ["show", "why", "cancel", "tail", "skip", "send", "fork"] {
        let mut found = completed(&[command, "ada"], &environment);
        found.sort_unstable();
        assert_eq!(found, ["ada-1", "ada-2"], "{command}");
    }
    assert_eq!(completed(&["start", "he"], &environment), ["hello"]);
    assert_eq!(
        completed(&["list", "--type", "pay"], &environment),
        ["payment"]
    );
    let flag = ["show", "--server", &server.url, "gra"];
    assert_eq!(completed(&flag, &[]), ["grace-1"]);
}
