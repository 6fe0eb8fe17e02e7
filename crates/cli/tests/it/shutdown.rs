//! Shutdown of a server by signals: exit codes, and what a second signal does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::serve::key;
use crate::server::Server;

// B301
#[test]
fn a_clean_shutdown_succeeds_after_sigterm_and_is_an_interruption_after_sigint() {
    let dev = || Server::start(&["dev", "--port", "0", "--memory"]);
    assert_eq!(dev().terminate(), Some(0));
    assert_eq!(dev().interrupt(), Some(130));
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    key(data, "admin");
    let serve = || Server::start(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    assert_eq!(serve().terminate(), Some(0));
    assert_eq!(serve().interrupt(), Some(130));
}

// B302
#[test]
fn a_second_signal_ends_a_server_that_waits_for_a_request() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    let admin = key(data, "admin");
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let server = Server::start(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
        let _request = unfinished_request(&server, &admin);
        let mut idle = idle_connection(&server);
        server.signal("TERM");
        // The server closes idle connections when it has received the first signal.
        idle.read_to_end(&mut Vec::new()).unwrap();
        server.signal(signal);
        assert_eq!(server.exit_code(), Some(code), "{signal}");
    }
}

/// Sends a request whose body does not end, and waits until the server reads the body.
fn unfinished_request(server: &Server, key: &str) -> TcpStream {
    let address = server.url.trim_start_matches("http://");
    let mut socket = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /workflows HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    socket
}

/// Opens a connection and reads the status line of a first response.
fn idle_connection(server: &Server) -> BufReader<TcpStream> {
    let address = server.url.trim_start_matches("http://");
    let mut socket = TcpStream::connect(address).unwrap();
    let request = format!("GET /workflows HTTP/1.1\r\nHost: {address}\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 401"), "{line}");
    reader
}
