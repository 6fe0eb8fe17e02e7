//! Trace export, with the collector set by a flag, a variable or the configuration file.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::Value;

use crate::server::Server;

const ADA: &str = r#"{"name":"Ada"}"#;
/// A trace usually arrives within moments; a busy machine may take longer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An HTTP server that accepts traces as a collector does.
struct Collector {
    endpoint: String,
    requests: Receiver<Value>,
}

impl Collector {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (connection, sender) = (connection.unwrap(), sender.clone());
                std::thread::spawn(move || {
                    while let Some(request) = answer_request(&connection) {
                        let _ = sender.send(request);
                    }
                });
            }
        });
        Self { endpoint, requests }
    }

    /// Returns the service name and the span names of the next trace.
    fn trace(&self) -> (String, Vec<String>) {
        let request = self.requests.recv_timeout(TIMEOUT).unwrap();
        let resource = &request["resourceSpans"][0];
        let attributes = resource["resource"]["attributes"].as_array().unwrap();
        let service = attributes
            .iter()
            .find(|attribute| attribute["key"] == "service.name")
            .unwrap();
        let service = service["value"]["stringValue"].as_str().unwrap();
        let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
        let names = spans.iter().map(|span| span["name"].as_str().unwrap());
        (service.to_owned(), names.map(str::to_owned).collect())
    }
}

/// Reads and answers one request. Returns `None` at the end of the connection.
fn answer_request(connection: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(connection);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push(line.to_ascii_lowercase());
    }
    assert_eq!(head[0], "post /v1/traces http/1.1\r\n");
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("content-length:"))
        .unwrap();
    let mut body = vec![0; length.trim().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    (&mut &*connection).write_all(answer).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

/// Starts a run and checks its trace.
#[track_caller]
fn check(collector: &Collector, server: &Server, service: &str) {
    server.output(&["start", "hello", ADA, "--wait"]);
    let (from, spans) = collector.trace();
    assert_eq!(from, service);
    assert!(spans.contains(&"hello".to_owned()), "{spans:?}");
    let steps = spans.iter().filter(|span| span.starts_with("step "));
    assert!(steps.count() > 0, "{spans:?}");
}

#[test]
fn the_collector_of_the_environment_receives_every_trace() {
    let collector = Collector::open();
    let variables = [
        ("EVERSTEP_OTLP_ENDPOINT", collector.endpoint.as_str()),
        ("EVERSTEP_OTLP_SERVICE", "shop"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let server = Server::start_with(&["dev", "--port", "0", "--memory"], &variables);
    check(&collector, &server, "shop");
    check(&collector, &server, "shop");
}

// B858
#[test]
fn a_collector_that_hangs_up_does_not_affect_runs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (sender, calls) = mpsc::channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            drop(connection);
            let _ = sender.send(());
        }
    });
    let arguments = [
        "dev",
        "--port",
        "0",
        "--memory",
        "--otlp-endpoint",
        &endpoint,
    ];
    let server = Server::start(&arguments);
    server.output(&["start", "hello", ADA, "--id", "first", "--wait"]);
    calls.recv_timeout(TIMEOUT).unwrap();
    server.output(&["start", "hello", ADA, "--id", "second", "--wait"]);
}

#[test]
fn the_collector_of_the_file_receives_traces() {
    let collector = Collector::open();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("everstep.toml");
    let text = format!("otlp_endpoint = '{}'\n", collector.endpoint);
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let server = Server::start(&["dev", "--port", "0", "--memory", "--config", file]);
    check(&collector, &server, "everstep");
}

#[test]
fn the_collector_of_a_flag_overrides_that_of_the_environment() {
    let (collector, other) = (Collector::open(), Collector::open());
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let key = crate::serve::key(data, "admin");
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        data,
        "--demo",
        "--otlp-endpoint",
        &collector.endpoint,
    ];
    let variable = ("EVERSTEP_OTLP_ENDPOINT".to_owned(), other.endpoint.clone());
    let server = Server::start_with(&arguments, &[variable]);
    server.output(&["start", "hello", ADA, "--wait", "--key", &key]);
    let (_, spans) = collector.trace();
    assert!(spans.contains(&"hello".to_owned()), "{spans:?}");
    // The server exports the remaining traces before it exits.
    assert_eq!(server.interrupt(), Some(130));
    assert!(other.requests.try_recv().is_err());
}
