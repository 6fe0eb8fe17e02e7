//! kill -9: a process with hundreds of runs in flight is killed at random moments, again and again.
//! Everything it acknowledged must be there, no recorded step may run again, and all runs must end
//! correctly.
//!
//! This binary is its own child: with `EVERSTEP_KILL9_DIR` set it is the process that gets killed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod child;
mod parent;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(dir) = std::env::var_os("EVERSTEP_KILL9_DIR") {
        return child::run(dir.as_ref());
    }
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        let is_ignored = arguments.iter().any(|argument| argument == "--ignored");
        if !is_ignored {
            println!("nothing_acknowledged_is_lost_to_kill_9: test");
        }
        return ExitCode::SUCCESS;
    }
    parent::run();
    println!("1 passed, 0 failed");
    ExitCode::SUCCESS
}
