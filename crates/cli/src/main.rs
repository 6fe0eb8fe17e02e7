//! The binary `everstep`: reads the command line, does the one thing it asks for, and says how it went in words for
//! people and in an exit code for scripts. It knows concrete stores; what it does with them is decided elsewhere.

mod arguments;
mod commands;
mod config;
mod dev;
mod ending;
mod error_pages;
mod explain;
mod output;
mod serve;
mod serving;
mod session;
mod story;
mod system_clock;

use std::process::ExitCode;

use clap::Parser;

use everstep_protocol::workflow::Verb;

use arguments::{Arguments, Around, Command};
use ending::Ending;
use session::{Session, block_on, block_on_all};

/// A record is made by one thread and freed by another, which the system's allocator settles with locks. Tests that feed
/// decoders bring one of their own, which counts.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Arguments { around, command } = arguments;
    // Servers say what is set to be said.
    if !matches!(command, Command::Dev(_) | Command::Serve(_)) {
        show_warnings();
    }
    let ended = match command {
        Command::Dev(dev) => block_on_all(dev::run(&dev, &around)),
        Command::Serve(serve) => block_on_all(serve::run(&serve, &around)),
        Command::Key(key) => block_on_all(commands::key::run(&key, &around)),
        #[cfg(feature = "bench")]
        Command::Bench(bench) => commands::bench::run(&bench, around.json),
        Command::Explain(explain) => explain::run(explain.code.as_deref(), around.json),
        Command::Config(_) => commands::config::run(&around),
        Command::Completions(completions) => commands::completions::run(&completions),
        command => speak(command, &around),
    };
    match ended {
        Ok(ending) => ending.into(),
        Err(error) => ending::report(&error, around.json),
    }
}

/// The commands that speak to a server.
fn speak(command: Command, around: &Around) -> anyhow::Result<Ending> {
    use commands::{answer, control, export, list, send, show, start, steps, tail, token, why};
    let session = Session::open(around)?;
    let session = &session;
    match command {
        Command::Start(it) => block_on(start::run(&it, session)),
        Command::List(it) => block_on(list::run(&it, session)),
        Command::Show(it) => block_on(show::run(&it, session)),
        Command::Tail(it) => block_on(tail::run(&it, session)),
        Command::Why(it) => block_on(why::run(&it, session)),
        Command::Send(it) => block_on(send::run(&it, session)),
        Command::Answer(it) => block_on(answer::run(&it, session)),
        Command::Pause(it) => block_on(control::plain(Verb::Pause, &it, session)),
        Command::Resume(it) => block_on(control::plain(Verb::Resume, &it, session)),
        Command::Cancel(it) => block_on(control::cancel(&it, session)),
        Command::Terminate(it) => block_on(control::plain(Verb::Terminate, &it, session)),
        Command::Restart(it) => block_on(control::restart(&it, session)),
        Command::Fork(it) => block_on(control::fork(&it, session)),
        Command::Recover(it) => block_on(control::plain(Verb::Recover, &it, session)),
        Command::RetryRollback(it) => block_on(control::plain(Verb::RetryRollback, &it, session)),
        Command::Skip(it) => block_on(steps::skip(&it, session)),
        Command::Edit(it) => block_on(steps::edit(&it, session)),
        Command::Fail(it) => block_on(steps::fail(&it, session)),
        Command::Delete(it) => block_on(control::plain(Verb::Delete, &it, session)),
        Command::Export(it) => block_on(export::run(&it, session)),
        Command::Token(it) => block_on(token::run(&it, session)),
        #[cfg(feature = "bench")]
        Command::Bench(_) => unreachable!("handled by the caller"),
        Command::Dev(_)
        | Command::Serve(_)
        | Command::Key(_)
        | Command::Explain(_)
        | Command::Config(_)
        | Command::Completions(_) => unreachable!("these have an engine, or need no server"),
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
