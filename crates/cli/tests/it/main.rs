//! Tests of the binary: output and exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod agreement;
#[cfg(feature = "bench")]
mod bench;
mod client_commands;
mod command_line;
mod completions;
mod configuration;
#[cfg(unix)]
mod confirming;
mod controlling;
#[cfg(target_os = "linux")]
mod descriptors;
mod dev;
mod guides;
mod importing;
mod inspecting;
mod logs;
mod postgres;
mod reconnecting;
mod salvaging;
mod serve;
mod server;
mod shutdown;
mod streams;
#[cfg(unix)]
mod terminal;
mod trace_export;
mod worker;

use std::process::{Command, Output};

/// Returns a command that runs a program without the `EVERSTEP_` variables of the developer.
fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("EVERSTEP_") {
            command.env_remove(variable);
        }
    }
    command
}

/// Returns a command that runs the binary with these arguments.
fn command(arguments: &[&str]) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_everstep"));
    command.args(arguments);
    command
}

/// Runs the binary with these arguments until it exits.
fn everstep(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
