//! The binary `everstep`: parses the command line, executes one command, and reports the result as
//! text or JSON and as an exit code.

mod arguments;
mod command_line;
mod commands;
mod completion;
mod config;
mod context;
mod error_pages;
mod error_report;
mod exit;
mod hosting;
mod local_time;
mod output;
mod reconnect;
mod runs;
mod suggestion;
mod timeline;
mod usage_error;

use std::process::ExitCode;

use clap::Parser;

use command_line::CommandLine;

/// Tests that feed decoders install their own counting allocator.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: everstep_allocator::MiMalloc = everstep_allocator::MiMalloc;

fn main() -> ExitCode {
    everstep_allocator::return_freed_memory();
    completion::complete_if_requested();
    let CommandLine { global, command } = match CommandLine::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return error_report::report_usage(&error, std::env::args_os()),
    };
    let is_json = command.prints_json(&global);
    match command.run(&global) {
        Ok(exit) => exit.into(),
        Err(error) => error_report::report(&error, is_json),
    }
}
