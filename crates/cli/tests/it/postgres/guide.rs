//! Executes the commands of `docs/guides/scaling.md` with a database and ports of the test.

use std::path::Path;

use everstep_private_postgres::Server as Database;

use crate::server::Server;
use crate::{program, stderr};

const GUIDE: &str = include_str!("../../../../../docs/guides/scaling.md");
/// The database URL in the guide.
const STORE: &str = "postgres://everstep@db.example/app?sslmode=require";
/// The address of the API node in the guide.
const API: &str = "127.0.0.1:4437";

/// The lines after a prompt.
fn commands() -> impl Iterator<Item = &'static str> {
    GUIDE.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// Runs a line in a shell that finds the binary in its path.
fn run_in_shell(line: &str, folder: &Path, environment: &[(String, String)]) {
    let binary = Path::new(env!("CARGO_BIN_EXE_everstep"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let mut shell = program("sh");
    shell.args(["-c", line]).current_dir(folder);
    shell.env("PATH", path).envs(environment.iter().cloned());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{line}: {}", stderr(&output));
}

#[test]
fn the_commands_of_the_scaling_guide_succeed() {
    let database = Database::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let mut environment: Vec<(String, String)> = Vec::new();
    let mut nodes = Vec::new();
    for line in commands() {
        if let Some(setting) = line.strip_prefix("export ") {
            let (name, value) = setting.split_once('=').unwrap();
            let value = match name {
                "EVERSTEP_STORE" => {
                    assert_eq!(value.trim_matches('\''), STORE);
                    database.url()
                }
                "EVERSTEP_KEY" => std::fs::read_to_string(folder.path().join("ops.key")).unwrap(),
                other => panic!("the test has no value for {other}"),
            };
            environment.push((name.to_owned(), value.trim().to_owned()));
        } else if let Some(arguments) = line.strip_prefix("everstep serve ") {
            let words: Vec<&str> = arguments.split(' ').collect();
            let at = words.iter().position(|word| *word == "--listen").unwrap() + 1;
            let mut serve = vec!["serve"];
            serve.extend(&words);
            serve[at + 1] = "127.0.0.1:0";
            let node = Server::start_with(&serve, &environment);
            if words[at] == API {
                environment.push(("EVERSTEP_SERVER".to_owned(), node.url.clone()));
            }
            nodes.push(node);
        } else if !line.starts_with("cargo ") {
            run_in_shell(line, folder.path(), &environment);
        }
    }
    assert_eq!(nodes.len(), 3);
    for node in nodes {
        assert_eq!(node.interrupt(), Some(130));
    }
}
