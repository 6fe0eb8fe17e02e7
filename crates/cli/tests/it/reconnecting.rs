//! Commands that wait go on when the server is restarted.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr};

use crate::server::Server;
use crate::stdout;

const PAYMENT: &str = r#"{"customer":"ada","amount":4200}"#;
const APPROVAL: &str = r#"{"approved":true,"reviewer":"grace"}"#;

/// A server that can be restarted at the same address with the same data.
struct Restartable {
    directory: tempfile::TempDir,
    server: Option<Server>,
}

impl Restartable {
    fn start() -> Self {
        let mut this = Self {
            directory: tempfile::tempdir().unwrap(),
            server: None,
        };
        this.start_at("0");
        this
    }

    fn server(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    fn start_at(&mut self, port: &str) {
        let data = self.directory.path().join("data");
        let data = data.to_str().unwrap();
        self.server = Some(Server::start(&["dev", "--port", port, "--data", data]));
    }

    /// Kills the server, waits for the client's notice, and starts the server again.
    fn restart(&mut self, notices: &mut Lines<BufReader<ChildStderr>>) {
        let server = self.server.take().unwrap();
        let port = server.url.rsplit(':').next().unwrap().to_owned();
        server.kill();
        let notice = notices.next().unwrap().unwrap();
        assert!(
            notice.starts_with("connection lost, retrying: "),
            "{notice}"
        );
        self.start_at(&port);
        assert_eq!(notices.next().unwrap().unwrap(), "connected again");
    }
}

fn stderr_lines(client: &mut Child) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(client.stderr.take().unwrap()).lines()
}

// B540
#[test]
fn start_prints_the_id_first_and_waits_beyond_a_restart() {
    let mut servers = Restartable::start();
    let start = ["start", "payment", PAYMENT, "--id", "pay-1", "--wait"];
    let mut client = servers.server().spawn_client(&start);
    let mut notices = stderr_lines(&mut client);
    assert_eq!(notices.next().unwrap().unwrap(), "pay-1 started");
    servers.server().until("workflow:step_started");
    servers.restart(&mut notices);
    servers
        .server()
        .output(&["send", "pay-1", "approval", APPROVAL]);
    let output = client.wait_with_output().unwrap();
    assert!(output.status.success());
    let printed = stdout(&output);
    assert!(printed.starts_with("pay-1 is completed: "), "{printed}");
}

// B540
#[test]
fn the_id_is_known_if_the_command_is_interrupted() {
    let server = Server::start(&["dev", "--port", "0", "--memory"]);
    let mut client = server.spawn_client(&["start", "payment", PAYMENT, "--wait", "--json"]);
    let mut notices = stderr_lines(&mut client);
    let notice: serde_json::Value =
        serde_json::from_str(&notices.next().unwrap().unwrap()).unwrap();
    let id = notice["notice"].as_str().unwrap();
    let id = id.strip_suffix(" started").unwrap();
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(server.json(&["show", id])["type"], "payment");
}

// B541
#[test]
fn tail_goes_on_after_a_restart_during_a_step() {
    let mut servers = Restartable::start();
    servers
        .server()
        .output(&["start", "payment", PAYMENT, "--id", "pay-1"]);
    let mut client = servers.server().spawn_client(&["tail", "pay-1"]);
    let mut notices = stderr_lines(&mut client);
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    // It has reached the server.
    let mut timeline = lines.next().unwrap().unwrap() + "\n";
    servers.server().until("workflow:step_started");
    servers.restart(&mut notices);
    servers
        .server()
        .output(&["send", "pay-1", "approval", APPROVAL]);
    for line in lines {
        timeline.push_str(&line.unwrap());
        timeline.push('\n');
    }
    assert!(client.wait().unwrap().success(), "{timeline}");
    let again = servers.server().output(&["timeline", "pay-1"]);
    assert_eq!(timeline, again, "no line is missing or repeated");
}
