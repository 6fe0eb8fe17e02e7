//! `everstep serve` on a PostgreSQL server started by the test: several nodes, unsafe databases and
//! outages.

mod guide;
mod nodes;
mod outage;
mod settings;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Output;
use std::time::{Duration, Instant};

use everstep_private_postgres::Server as Database;

use crate::server::Server;
use crate::{command, everstep, stderr, stdout};

/// The timeout of [`until`].
const TIMEOUT: Duration = Duration::from_secs(60);

/// A database with an API key.
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

    /// Runs a client command against a node.
    fn run(&self, node: &Server, arguments: &[&str]) -> Output {
        let mut command = command(arguments);
        command.env("EVERSTEP_SERVER", &node.url);
        command.env("EVERSTEP_KEY", &self.key).output().unwrap()
    }

    /// Returns the output of a successful command.
    fn output(&self, node: &Server, arguments: &[&str]) -> String {
        let output = self.run(node, arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    }

    /// Sends a request and returns the head and body of the response.
    fn request(&self, node: &Server, request: &str, body: &str) -> String {
        let address = node.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let (key, length) = (&self.key, body.len());
        let head = format!(
            "{request} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }
}

fn key(database: &Database, namespace: &str) -> String {
    let url = database.url();
    let create = ["key", "create", "ops", "--scope", "admin", "--store", &url];
    let output = everstep(&[&create[..], &["--namespace", namespace]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

/// Repeats a request until it succeeds. Each request takes some time, so no sleep is needed.
fn until<T>(expected: &str, mut request: impl FnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match request() {
            Ok(response) => return response,
            Err(other) if started.elapsed() > TIMEOUT => panic!("no {expected}: {other}"),
            Err(_) => {}
        }
    }
}

/// Checks the beginning of a text.
fn starts_with(text: String, prefix: &str) -> Result<String, String> {
    match text.starts_with(prefix) {
        true => Ok(text),
        false => Err(text),
    }
}
