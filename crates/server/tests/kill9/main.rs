//! kill -9: the test repeatedly kills a server at random moments while many connections append.
//! Everything acknowledged must exist exactly once, and everything a reader saw at an offset must
//! stay there.
//!
//! The binary starts itself as the server process, with `EVERSTEP_STREAMS_KILL9_DIR` set.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod client;
mod load;
mod parent;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(dir) = std::env::var_os("EVERSTEP_STREAMS_KILL9_DIR") {
        server::run(dir.as_ref());
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        let is_ignored = arguments.iter().any(|argument| argument == "--ignored");
        if !is_ignored {
            println!("nothing_appended_is_lost_to_kill_9: test");
        }
        return ExitCode::SUCCESS;
    }
    parent::run();
    println!("1 passed, 0 failed");
    ExitCode::SUCCESS
}
