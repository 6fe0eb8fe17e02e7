//! Executes the guides about HTTP: runs every command of their `shell` blocks against `everstep
//! dev`, in order, and compares the responses with those in the guides.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::Server;

/// The address of the server in the guides.
const ADDRESS: &str = "localhost:4437";
/// The placeholder for any value.
const ANYTHING: &str = "…";
/// How long a run may take until a read returns what the guide shows.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A command with the lines that the guide shows below it.
struct Step<'a> {
    command: &'a str,
    shown: Vec<&'a str>,
}

fn steps(guide: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for block in guide.split("```shell\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step {
                    command,
                    shown: Vec::new(),
                }),
                None => steps.last_mut().unwrap().shown.push(line),
            }
        }
    }
    steps
}

impl Step<'_> {
    /// Runs the command until its output is as shown, if it may be repeated.
    fn check(&self, server: &Server) {
        let address = server.url.strip_prefix("http://").unwrap();
        let command = self.command.replace(ADDRESS, address);
        let is_read =
            self.command.starts_with("curl -s 'localhost") && !command.contains(" --json ");
        let started = Instant::now();
        loop {
            let printed =
                server.paste(&format!("export EVERSTEP_SERVER={}\n{command}", server.url));
            if self.shown.iter().all(|line| fits_line(line, &printed)) {
                return;
            }
            let is_final = !is_read || started.elapsed() > TIMEOUT;
            assert!(!is_final, "{}\n{printed}", self.command);
        }
    }
}

/// Whether the output contains the shown line, or is the shown JSON.
fn fits_line(shown: &str, printed: &str) -> bool {
    match (serde_json::from_str(shown), serde_json::from_str(printed)) {
        (Ok(shown), Ok(printed)) => fits(&shown, &printed),
        _ => printed.lines().any(|line| line == shown),
    }
}

/// Whether a response contains everything that the guide shows.
fn fits(shown: &Value, answer: &Value) -> bool {
    match (shown, answer) {
        (Value::String(text), _) if text == ANYTHING => true,
        (Value::Object(shown), Value::Object(answer)) => shown
            .iter()
            .all(|(name, value)| answer.get(name).is_some_and(|answer| fits(value, answer))),
        (Value::Array(shown), Value::Array(answer)) => {
            let is_open = shown.last().is_some_and(|last| last == ANYTHING);
            let shown = &shown[..shown.len() - usize::from(is_open)];
            (is_open || shown.len() == answer.len())
                && shown.len() <= answer.len()
                && shown
                    .iter()
                    .zip(answer)
                    .all(|(shown, answer)| fits(shown, answer))
        }
        (shown, answer) => shown == answer,
    }
}

fn check(guide: &str, steps_min: usize) {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    let steps = steps(guide);
    assert!(
        steps.len() >= steps_min,
        "the guide has only {} commands",
        steps.len()
    );
    for step in steps {
        step.check(&server);
    }
}

// B563
#[test]
fn the_guide_of_the_http_api_can_be_followed_with_the_development_server() {
    check(include_str!("../../../../docs/guides/http-api.md"), 15);
}

// B563
#[test]
fn the_guide_of_streams_can_be_followed_with_the_development_server() {
    check(include_str!("../../../../docs/guides/streams.md"), 8);
}
