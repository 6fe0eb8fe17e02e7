//! A server in a process of its own, and commands that speak to it.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use crate::stdout;

/// A running `everstep dev` or `everstep serve`; ended the hard way when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
    pub(crate) url: String,
}

impl Server {
    /// Starts a server that says where it listens in its first line of JSON.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// The same with these variables.
    pub(crate) fn start_with(arguments: &[&str], environment: &[(String, String)]) -> Self {
        let mut server = Self::spawn(&[arguments, &["--json"]].concat(), environment);
        let first = server.lines.next().unwrap().unwrap();
        let said: serde_json::Value = serde_json::from_str(&first).unwrap();
        server.url = said["listening"].as_str().unwrap().to_owned();
        server
    }

    /// The demo workflows, in memory, told as a story.
    pub(crate) fn told(arguments: &[&str]) -> Self {
        let mut server = Self::spawn(&[&["dev", "--port", "0"], arguments].concat(), &[]);
        let first = server.lines.next().unwrap().unwrap();
        let url = first
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        server.url = url.unwrap().trim_end_matches(',').to_owned();
        server
    }

    fn spawn(arguments: &[&str], environment: &[(String, String)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_everstep"))
            .args(arguments)
            .envs(environment.iter().cloned())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            lines,
            url: String::new(),
        }
    }

    /// Lines until one that holds this text, and that one.
    pub(crate) fn until(&mut self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        for line in self.lines.by_ref() {
            seen.push(line.unwrap());
            if seen.last().unwrap().contains(text) {
                return seen;
            }
        }
        panic!("`{text}` does not come: {seen:?}");
    }

    /// Runs a command that speaks to it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
        command.args(arguments).env("EVERSTEP_SERVER", &self.url);
        command.output().unwrap()
    }

    /// Starts a command that goes on while others run.
    pub(crate) fn follow(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
        command.args(arguments).env("EVERSTEP_SERVER", &self.url);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// What a command that goes well prints.
    pub(crate) fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let printed = stdout(&output);
        assert!(
            output.status.success(),
            "{arguments:?}: {printed}{output:?}"
        );
        printed
    }

    /// What a command that goes well prints for programs.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let printed = self.said(&[arguments, &["--json"]].concat());
        serde_json::from_str(&printed).unwrap()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and gives its exit code.
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        // What it says on its way is read, so that it never waits for us.
        for line in self.lines.by_ref() {
            line.unwrap();
        }
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
