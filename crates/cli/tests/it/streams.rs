//! `everstep stream`: creating, appending and reading.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::server::Server;
use crate::{command, stderr};

fn server() -> Server {
    Server::start(&["dev", "--port", "0", "--memory"])
}

// B568
#[test]
fn a_stream_is_created_appended_to_and_read() {
    let server = server();
    assert_eq!(
        server.output(&["stream", "create", "chat/room 1"]),
        "chat/room 1 created\n"
    );
    assert_eq!(
        server.output(&["stream", "create", "chat/room 1"]),
        "chat/room 1 exists\n"
    );
    server.output(&["stream", "append", "chat/room 1", r#"{"text": "hello"}"#]);
    let appended = server.json(&["stream", "append", "chat/room 1", r#"[1,"two"]"#]);
    let read = ["stream", "read", "chat/room 1"];
    let all = "{\"text\": \"hello\"}\n1\n\"two\"\n";
    assert_eq!(server.output(&read), all);
    let offset = appended["nextOffset"].as_str().unwrap();
    server.output(&["stream", "append", "chat/room 1", "3"]);
    assert_eq!(
        server.output(&[&read[..], &["--from", offset]].concat()),
        "3\n"
    );
    assert_eq!(server.output(&[&read[..], &["--from", "now"]].concat()), "");
}

// B568
#[test]
fn a_followed_stream_prints_messages_as_they_arrive() {
    let server = server();
    server.output(&["stream", "create", "chat"]);
    server.output(&["stream", "append", "chat", "1"]);
    let mut client = server.spawn_client(&["stream", "read", "chat", "--follow"]);
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "1");
    server.output(&["stream", "append", "chat", "2"]);
    assert_eq!(lines.next().unwrap().unwrap(), "2");
    client.kill().unwrap();
    client.wait().unwrap();
}

// B568
#[test]
fn text_is_appended_from_stdin_and_read_as_it_is() {
    let server = server();
    let create = [
        "stream",
        "create",
        "logs",
        "--content-type",
        "text/plain",
        "--ttl",
        "1h",
    ];
    server.output(&create);
    let mut client = command(&["stream", "append", "logs", "--file", "-"]);
    client
        .env("EVERSTEP_SERVER", &server.url)
        .stdin(Stdio::piped());
    let mut client = client.stdout(Stdio::piped()).spawn().unwrap();
    client
        .stdin
        .take()
        .unwrap()
        .write_all(b"line 1\nline 2\n")
        .unwrap();
    assert!(client.wait_with_output().unwrap().status.success());
    assert_eq!(
        server.output(&["stream", "read", "logs"]),
        "line 1\nline 2\n"
    );
}

// B568
#[test]
fn errors_of_streams_have_exit_codes() {
    let server = server();
    server.output(&["stream", "create", "chat"]);
    for (arguments, code) in [
        (vec!["stream", "read", "nothing"], 6),
        (vec!["stream", "append", "nothing", "1"], 6),
        (vec!["stream", "append", "chat", "no json"], 7),
        (vec!["stream", "append", "chat"], 2),
        (vec!["stream", "create", "chat", "--ttl", "soon"], 2),
    ] {
        let output = server.run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}
