//! `everstep serve` on a PostgreSQL server of the test's own: nodes that share the work, and what becomes of them when the
//! database is unsafe, goes away and comes back.

mod guide;
mod nodes;
mod outage;
mod settings;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use everstep_private_postgres::Server as Database;

use crate::server::Server;
use crate::{everstep, stderr, stdout};

/// How long something may take that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// An installation: a database of its own and a key to it.
struct Installation {
    database: Database,
    key: String,
}

impl Installation {
    fn new() -> Self {
        let database = Database::start(&[]);
        let key = key(&database, "everstep");
        Self { database, key }
    }

    /// Starts a node with these roles.
    fn node(&self, roles: &str) -> Server {
        let url = self.database.url();
        let place = ["serve", "--listen", "127.0.0.1:0", "--store", &url];
        Server::start(&[&place[..], &["--roles", roles, "--demo"]].concat())
    }

    /// Runs a command that speaks to a node.
    fn run(&self, node: &Server, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
        command.args(arguments).env("EVERSTEP_SERVER", &node.url);
        command.env("EVERSTEP_KEY", &self.key).output().unwrap()
    }

    /// What a command that goes well prints.
    fn said(&self, node: &Server, arguments: &[&str]) -> String {
        let output = self.run(node, arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    }

    /// The answer of a node to a request, its head and its body.
    fn asked(&self, node: &Server, request: &str, body: &str) -> String {
        let address = node.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let (key, length) = (&self.key, body.len());
        let head = format!(
            "{request} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

fn key(database: &Database, namespace: &str) -> String {
    let url = database.url();
    let create = ["key", "create", "ops", "--scope", "admin", "--store", &url];
    let output = everstep(&[&create[..], &["--namespace", namespace]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

/// Asks again and again until the answer is as hoped. Asking takes its time, so nobody need sleep.
fn until<T>(hoped_for: &str, mut ask: impl FnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(other) if started.elapsed() > PATIENCE => panic!("no {hoped_for}: {other}"),
            Err(_) => {}
        }
    }
}

/// Ok if a text begins so.
fn begins(text: String, with: &str) -> Result<String, String> {
    match text.starts_with(with) {
        true => Ok(text),
        false => Err(text),
    }
}
