//! The limit of file descriptors: raised at the start, and never used up by connections.

use std::fs;
use std::net::TcpStream;

use crate::server::Server;

// B780
#[test]
fn connections_leave_descriptors_to_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let arguments = ["dev", "--port", "0", "--data", data.to_str().unwrap()];
    let server = Server::start_limited("ulimit -S -n 64; ulimit -H -n 512", &arguments);
    server.output(&["stream", "create", "a"]);
    let process = format!("/proc/{}", server.process_id());
    let limits = fs::read_to_string(format!("{process}/limits")).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let files: Vec<&str> = files.unwrap().split_whitespace().collect();
    assert_eq!(
        files[3..5],
        ["512", "512"],
        "the soft limit is the hard one"
    );

    let address = server.url.trim_start_matches("http://");
    let mut idle = Vec::new();
    for _ in 0..600 {
        idle.push(TcpStream::connect(address).unwrap());
    }
    for _ in 0..20 {
        let message = format!("\"{}\"", "x".repeat(100_000));
        server.output(&["stream", "append", "a", &message]);
    }
    let open = fs::read_dir(format!("{process}/fd")).unwrap().count();
    assert!(open < 256, "{open} descriptors are open");
    drop(idle);
}
