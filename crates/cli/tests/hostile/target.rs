//! The attacked server: a process of `everstep serve` with keys and tokens.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::client::{Http, Request};

/// A large message, which tokens may read.
const LARGE: usize = 1_000_000;
/// Completed runs in the store, for lists.
const RUNS: usize = 20_000;
/// Runs started with one request.
const BATCH: usize = 1_000;

pub(crate) struct Target {
    server: Child,
    _directory: TempDir,
    pub(crate) address: SocketAddr,
    /// The key of the well-behaved client.
    pub(crate) key: String,
    /// A key of the attacker.
    pub(crate) hostile_key: String,
    /// A key of the attacker that reaches no run.
    pub(crate) limited_key: String,
    operator_key: String,
}

fn everstep(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("EVERSTEP_") {
            command.env_remove(variable);
        }
    }
    command.args(arguments);
    command
}

fn key(data: &str, name: &str, scopes: &str, limits: &[&str]) -> String {
    let arguments = ["key", "create", name, "--scope", scopes, "--data", data];
    let output = everstep(&[&arguments, limits].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Target {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let data = data.to_str().unwrap();
        let key_of = |name, scopes, limits| key(data, name, scopes, limits);
        let key = key_of("good", "read,start,send", &[]);
        let hostile_key = key_of("bad", "read,send", &[]);
        let operator_key = key_of("operator", "operate", &[]);
        let limited_key = key_of("limited", "read", &["--runs", "absent-"]);
        let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data];
        let mut command = everstep(&[&serve[..], &["--demo", "--json"]].concat());
        let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let output = server.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let url = line["listening"].as_str().unwrap();
        Self {
            server,
            _directory: directory,
            address: url.trim_start_matches("http://").parse().unwrap(),
            key,
            hostile_key,
            limited_key,
            operator_key,
        }
    }

    /// Creates a large stream, and returns a token that may read it.
    pub(crate) async fn stream_token(&self) -> String {
        let mut http = Http::connect(self.address).await.unwrap();
        let put = Request::new("PUT", "/v1/stream/large").key(&self.hostile_key);
        let large = put.body("text/plain", &"x".repeat(LARGE));
        http.send(&large).await.unwrap();
        let body = json!({"stream": "large", "allows": ["read"]});
        self.mint(&mut http, "/tokens/streams", &body).await
    }

    /// Starts a run and pauses it, so that it takes no events. Returns a token that may read it and
    /// send it an event.
    pub(crate) async fn run_token(&self) -> String {
        let mut http = Http::connect(self.address).await.unwrap();
        let input = json!({"customer": "ada", "amount": 4_200});
        let run = json!({"type": "payment", "id": "victim", "input": input});
        let start = Request::new("POST", "/workflows").key(&self.key);
        let pause = Request::new("POST", "/workflows/victim/pause").key(&self.operator_key);
        for (request, body) in [(start, run), (pause, json!({}))] {
            let request = request.body("application/json", &body.to_string());
            let response = http.send(&request).await.unwrap();
            assert!(matches!(response.status, 200..=202), "{response:?}");
        }
        let body = json!({"run": "victim", "events": ["approval"]});
        self.mint(&mut http, "/tokens", &body).await
    }

    async fn mint(&self, http: &mut Http, path: &str, body: &serde_json::Value) -> String {
        let mint = Request::new("POST", path).key(&self.hostile_key);
        let mint = mint.body("application/json", &body.to_string());
        let minted = http.send(&mint).await.unwrap();
        let json: serde_json::Value = serde_json::from_slice(&minted.body).unwrap();
        json["token"].as_str().unwrap().to_owned()
    }

    /// Fills the store with runs.
    pub(crate) async fn start_runs(&self) {
        let mut http = Http::connect(self.address).await.unwrap();
        for _ in 0..RUNS / BATCH {
            let runs = vec![json!({"type": "hello", "input": {"name": "Ada"}}); BATCH];
            let start = Request::new("POST", "/batch").key(&self.key);
            let body = json!({ "runs": runs }).to_string();
            let started = http.send(&start.body("application/json", &body)).await;
            let started = started.unwrap();
            assert_eq!(started.status, 200, "{started:?}");
        }
    }

    pub(crate) fn memory_mib(&self) -> u64 {
        let status = format!("/proc/{}/status", self.server.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Lets this process open as many connections as it may.
#[cfg(unix)]
pub(crate) fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Nofile, raised);
}
