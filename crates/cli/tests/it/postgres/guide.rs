//! What `docs/guides/scaling.md` says to type is typed, with this test's database and ports in the place of those that the guide
//! names.

use std::path::Path;
use std::process::Command;

use everstep_private_postgres::Server as Database;

use crate::server::Server;
use crate::stderr;

const GUIDE: &str = include_str!("../../../../../docs/guides/scaling.md");
/// The address of the database in the guide.
const STORE: &str = "postgres://everstep@db.example/app?sslmode=require";
/// Where its API node listens.
const API: &str = "127.0.0.1:4437";

/// The lines behind a prompt, in order.
fn commands() -> impl Iterator<Item = &'static str> {
    GUIDE.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// Types a line into a shell that knows the binary.
fn typed(line: &str, folder: &Path, environment: &[(String, String)]) {
    let binary = Path::new(env!("CARGO_BIN_EXE_everstep"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder);
    shell.env("PATH", path).envs(environment.iter().cloned());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{line}: {}", stderr(&output));
}

#[test]
fn the_guide_to_many_machines_does_what_it_says() {
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
                other => panic!("{other} is not set here"),
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
            typed(line, folder.path(), &environment);
        }
    }
    assert_eq!(nodes.len(), 3);
    for node in nodes {
        assert_eq!(node.interrupt(), Some(130));
    }
}
