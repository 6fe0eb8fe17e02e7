//! The server that external test suites run against: built, started on a free port, killed when
//! dropped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::builds;
use crate::failure::Failure;
use crate::workspace::{self, target};

pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be used: {error}", path.display()))
}

/// A running server. Dropping it kills the process.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn build() -> Result<(), Failure> {
        builds::workspace("build", &["--release", "--example", "server"]).run()
    }

    pub(crate) fn start(store: &[&str]) -> Result<Self, Failure> {
        let program = target().join("release/examples/server");
        let mut child = Command::new(&program)
            .args(["--port", "0", "--long-poll-timeout", "500ms"])
            .args(store)
            .current_dir(workspace::root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unusable(&program, &error))?;
        let mut line = String::new();
        let first_line = child
            .stdout
            .take()
            .map(|out| BufReader::new(out).read_line(&mut line));
        let address = line.trim().strip_suffix("/v1/stream/").map(str::to_owned);
        match (first_line, address) {
            (Some(Ok(_)), Some(address)) => Ok(Self { child, address }),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                Err(Failure::new("the server did not print its address"))
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
