//! The binary `everstep`: reads the command line, does the one thing it asks for, and says how it went in words for
//! people and in an exit code for scripts. It knows concrete stores; what it does with them is decided elsewhere.

mod arguments;
mod bench;
mod dev;
mod ending;
mod error_pages;
mod explain;
mod system_clock;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// A record is made by one thread and freed by another, which the system's allocator settles with locks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    show_warnings();
    let ended = match arguments.command {
        Command::Dev(dev) => dev::run(&dev),
        Command::Bench(bench) => bench::run(&bench),
        Command::Explain(explain) => explain::run(explain.code.as_deref()),
    };
    match ended {
        Ok(ending) => ending.into(),
        Err(error) => ending::report(&error),
    }
}

/// What the engine has to say beside its answers (a store that fails, a run that makes no progress) goes to stderr.
fn show_warnings() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false);
    // Only a second subscriber could fail here, and there is none.
    let _ = subscriber.try_init();
}
