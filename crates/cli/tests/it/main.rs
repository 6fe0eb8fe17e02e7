//! The binary as people and scripts meet it: output and exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[cfg(feature = "bench")]
mod bench;
mod command_line;
mod configuring;
mod dev;
mod postgres;
mod server;
mod serving;
mod speaking;
mod tracing;

use std::process::{Command, Output};

/// Runs `everstep` with these arguments to its end.
fn everstep(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everstep"));
    command.args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
