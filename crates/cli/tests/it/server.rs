//! A server in a child process, and client commands that call it.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use crate::{command, stdout};

/// A running `everstep dev` or `everstep serve`. Killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
    pub(crate) url: String,
}

impl Server {
    /// Starts a server with JSON output, whose first line contains its URL.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// Starts it with these environment variables.
    pub(crate) fn start_with(arguments: &[&str], environment: &[(String, String)]) -> Self {
        let mut server = Self::spawn(&[arguments, &["--json"]].concat(), environment);
        server.read_url();
        server
    }

    fn read_url(&mut self) {
        let first = self.lines.next().unwrap().unwrap();
        let line: serde_json::Value = serde_json::from_str(&first).unwrap();
        self.url = line["listening"].as_str().unwrap().to_owned();
    }

    /// Starts a server in a shell with this limit of file descriptors, as `ulimit` takes it.
    pub(crate) fn start_limited(limits: &str, arguments: &[&str]) -> Self {
        let mut shell = crate::program("sh");
        shell.args(["-c", &format!(r#"{limits}; exec "$0" "$@" --json"#)]);
        shell.arg(env!("CARGO_BIN_EXE_everstep")).args(arguments);
        let mut server = Self::of(&mut shell);
        server.read_url();
        server
    }

    /// Starts `everstep dev` with text output.
    pub(crate) fn start_with_text(arguments: &[&str]) -> Self {
        let mut server = Self::spawn(&[&["dev", "--port", "0"], arguments].concat(), &[]);
        let first = server.lines.next().unwrap().unwrap();
        let url = first
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        server.url = url.unwrap().trim_end_matches(',').to_owned();
        server
    }

    fn spawn(arguments: &[&str], environment: &[(String, String)]) -> Self {
        let mut command = command(arguments);
        Self::of(command.envs(environment.iter().cloned()))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            lines,
            url: String::new(),
        }
    }

    /// Returns the lines up to and including the first that contains this text.
    pub(crate) fn until(&mut self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        for line in self.lines.by_ref() {
            seen.push(line.unwrap());
            if seen.last().unwrap().contains(text) {
                return seen;
            }
        }
        panic!("no line contains `{text}`: {seen:?}");
    }

    /// Runs a client command.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = command(arguments);
        command.env("EVERSTEP_SERVER", &self.url).output().unwrap()
    }

    /// Runs a command in a shell, exactly as it is written.
    pub(crate) fn paste(&self, line: &str) -> String {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_everstep"));
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let mut shell = crate::program("sh");
        shell.args(["-c", line]).env("PATH", path);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        stdout(&output)
    }

    /// Starts a client command without waiting for its end.
    pub(crate) fn spawn_client(&self, arguments: &[&str]) -> Child {
        let mut command = command(arguments);
        command.env("EVERSTEP_SERVER", &self.url);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Returns the output of a successful client command.
    pub(crate) fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let printed = stdout(&output);
        assert!(
            output.status.success(),
            "{arguments:?}: {printed}{output:?}"
        );
        printed
    }

    /// Returns the output of a client command that succeeds with this key or token.
    pub(crate) fn output_with_key(&self, key: &str, arguments: &[&str]) -> String {
        let mut command = command(arguments);
        command.env("EVERSTEP_SERVER", &self.url);
        let output = command.env("EVERSTEP_KEY", key).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        stdout(&output)
    }

    /// Returns the JSON output of a successful client command.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let printed = self.output(&[arguments, &["--json"]].concat());
        serde_json::from_str(&printed).unwrap()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGINT and returns the exit code.
    pub(crate) fn interrupt(self) -> Option<i32> {
        self.signal("INT");
        self.exit_code()
    }

    /// Sends SIGTERM and returns the exit code.
    pub(crate) fn terminate(self) -> Option<i32> {
        self.signal("TERM");
        self.exit_code()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until the process ends and returns its exit code.
    pub(crate) fn exit_code(mut self) -> Option<i32> {
        // Read the remaining output, so that the server does not block on a full pipe.
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
