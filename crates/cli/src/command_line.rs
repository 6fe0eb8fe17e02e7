//! The command line as `--help` shows it, and the dispatch to the commands.

use std::future::Future;

use clap::{Parser, Subcommand};
use everstep_model::Verb;
use tokio::runtime::Builder;

use crate::arguments::GlobalOptions;
use crate::commands::control::{Cancel, Edit, Fail, Fork, Restart, Skip, Targets};
use crate::commands::{self, control};
use crate::context::Context;
use crate::exit::Exit;
use crate::hosting::{log_warnings, logs_json};

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure; the message says why
  2    invalid command line or setting
  3    the store cannot be used: locked, corrupt, full, or written by a newer version; or `check` found damage
  4    no server is reachable
  5    the server requires a key, or a key with more scopes
  6    the run, workflow or key does not exist
  7    refused because of the state of the run or the content of the request
  8    the run that the command waited for did not complete
  9    the server is too busy or shutting down; repeat the command later
  130  interrupted (SIGINT)
  143  ended by a second SIGTERM during a shutdown; the first one exits with 0

Examples:
  everstep dev                                   start a local server with demo workflows
  everstep start hello '{\"name\":\"Ada\"}' --wait   start a run from another terminal
  everstep list --status failed                  list failed runs
  everstep tail order-7                          follow a run
  everstep explain store_locked                  explain an error code and what to do about it";

/// Durable workflows: ordinary async functions that survive crashes, deployments and months of
/// waiting
#[derive(Debug, Parser)]
#[command(name = "everstep", version, after_help = EXIT_CODES)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a local server with demo workflows and show live events
    Dev(commands::dev::Dev),
    /// Run a production server
    Serve(commands::serve::Serve),
    /// Start a run, or show the existing run with the same ID
    Start(commands::start::Start),
    /// List runs, newest first
    #[command(visible_alias = "ls")]
    List(commands::list::List),
    /// Show the input, steps, waits and result of a run
    #[command(visible_alias = "describe")]
    Show(commands::show::Show),
    /// Follow a run live until it ends
    #[command(visible_alias = "logs")]
    Tail(commands::tail::Tail),
    /// Print what happened in a run, and when
    Timeline(commands::timeline::Timeline),
    /// Print the structure of a run as a flowchart
    Shape(commands::shape::Shape),
    /// Print the status of a run as one word, or an overview of the server
    Status(commands::status::Status),
    /// Show a run as a page in the browser
    Open(commands::open::Open),
    /// List the workflows that can be started
    Workflows(commands::workflows::Workflows),
    /// Explain why a run makes no progress
    Why(commands::why::Why),
    /// Send an event to a run
    #[command(visible_alias = "signal")]
    Send(commands::send::Send),
    /// Answer an rpc of a run; the first valid answer wins
    Answer(commands::answer::Answer),
    /// Pause runs after their steps in flight
    #[command(
        after_help = "Examples:\n  everstep pause order-7 --reason 'month end'\n  everstep pause --type payment"
    )]
    Pause(Targets),
    /// Continue paused runs
    #[command(
        after_help = "Examples:\n  everstep resume order-7\n  everstep resume --status paused"
    )]
    Resume(Targets),
    /// Cancel runs and undo their completed steps
    Cancel(Cancel),
    /// End runs immediately, without undoing anything
    #[command(
        after_help = "Examples:\n  everstep terminate order-7 --reason 'wrong input'\n  everstep terminate --tag nightly --dry-run\n  everstep terminate --all --yes     does not ask"
    )]
    Terminate(Targets),
    /// Start runs again from the beginning or from one of their operations
    Restart(Restart),
    /// Start a new run as a copy of another one
    Fork(Fork),
    /// Continue failed runs where they failed
    #[command(
        after_help = "Examples:\n  everstep recover order-7\n  everstep recover --status failed --created-from 2h"
    )]
    Recover(Targets),
    /// Repeat failed rollbacks
    #[command(
        after_help = "Examples:\n  everstep retry-rollback order-7\n  everstep retry-rollback --status rollback_failed"
    )]
    RetryRollback(Targets),
    /// Complete a step without executing it
    Skip(Skip),
    /// Set the result of a step that has none
    Edit(Edit),
    /// Make runs, or one operation of a run, fail
    Fail(Fail),
    /// Delete runs and their journals
    #[command(
        after_help = "Examples:\n  everstep delete order-7\n  everstep delete --status completed --created-before 30d\n  everstep delete --all --yes     does not ask"
    )]
    Delete(Targets),
    /// Create a stream, append to it, read it
    Stream(commands::stream::Stream),
    /// Export the complete journal of a run as JSON lines (requires the scope `admin`)
    Export(commands::export::Export),
    /// Import a run with the journal that `export` wrote (requires the scope `admin`)
    Import(commands::import::Import),
    /// Look for damage in the directory of a store
    Check(commands::check::Check),
    /// Recover what can be read of a damaged store into a new one
    Salvage(commands::salvage::Salvage),
    /// Create a short-lived token that gives a browser access to one run
    Token(commands::token::Token),
    /// Create, list and revoke API keys
    Key(commands::key::Key),
    /// Show all settings and where their values come from, without secrets
    Config(commands::config::ShowConfig),
    #[cfg(feature = "bench")]
    Bench(everstep_bench::BenchArguments),
    /// Explain an error code, or list all error codes
    Explain(commands::explain::Explain),
    /// Print a completion script for a shell
    Completions(commands::completions::Completions),
}

impl Command {
    /// Whether output and errors are JSON: as requested, or as the log of a server is.
    pub(crate) fn prints_json(&self, global: &GlobalOptions) -> bool {
        let config = match self {
            Self::Dev(it) => it.config(global),
            Self::Serve(it) => it.config(global),
            _ => return global.json,
        };
        global.json || config.is_ok_and(|config| logs_json(&config))
    }

    pub(crate) fn run(self, global: &GlobalOptions) -> anyhow::Result<Exit> {
        // The two servers configure logging themselves.
        if !matches!(self, Self::Dev(_) | Self::Serve(_)) {
            log_warnings();
        }
        match self {
            Self::Dev(it) => block_on_all_cores(commands::dev::run(&it, global)),
            Self::Serve(it) => block_on_all_cores(commands::serve::run(&it, global)),
            Self::Key(it) => block_on_all_cores(commands::key::run(&it, global)),
            #[cfg(feature = "bench")]
            Self::Bench(it) => commands::bench::run(&it, global.json),
            Self::Explain(it) => commands::explain::run(&it, global.json),
            Self::Config(_) => commands::config::run(global),
            Self::Completions(it) => commands::completions::run(&it),
            Self::Start(it) => block_on(commands::start::run(&it, &Context::new(global)?)),
            Self::List(it) => block_on(commands::list::run(&it, &Context::new(global)?)),
            Self::Show(it) => block_on(commands::show::run(&it, &Context::new(global)?)),
            Self::Tail(it) => block_on(commands::tail::run(&it, &Context::new(global)?)),
            Self::Timeline(it) => block_on(commands::timeline::run(&it, &Context::new(global)?)),
            Self::Shape(it) => block_on(commands::shape::run(&it, &Context::new(global)?)),
            Self::Status(it) => block_on(commands::status::run(&it, &Context::new(global)?)),
            Self::Open(it) => block_on(commands::open::run(&it, &Context::new(global)?)),
            Self::Workflows(_) => block_on(commands::workflows::run(&Context::new(global)?)),
            Self::Stream(it) => block_on(commands::stream::run(&it, &Context::new(global)?)),
            Self::Why(it) => block_on(commands::why::run(&it, &Context::new(global)?)),
            Self::Send(it) => block_on(commands::send::run(&it, &Context::new(global)?)),
            Self::Answer(it) => block_on(commands::answer::run(&it, &Context::new(global)?)),
            Self::Export(it) => block_on(commands::export::run(&it, &Context::new(global)?)),
            Self::Import(it) => block_on(commands::import::run(&it, &Context::new(global)?)),
            Self::Check(it) => commands::check::run(&it, global),
            Self::Salvage(it) => commands::salvage::run(&it, global),
            Self::Token(it) => block_on(commands::token::run(&it, &Context::new(global)?)),
            Self::Pause(it) => plain(Verb::Pause, &it, global),
            Self::Resume(it) => plain(Verb::Resume, &it, global),
            Self::Terminate(it) => plain(Verb::Terminate, &it, global),
            Self::Recover(it) => plain(Verb::Recover, &it, global),
            Self::RetryRollback(it) => plain(Verb::RetryRollback, &it, global),
            Self::Delete(it) => plain(Verb::Delete, &it, global),
            Self::Cancel(it) => block_on(it.run(&Context::new(global)?)),
            Self::Restart(it) => block_on(it.run(&Context::new(global)?)),
            Self::Fork(it) => block_on(it.run(&Context::new(global)?)),
            Self::Fail(it) => block_on(it.run(&Context::new(global)?)),
            Self::Skip(it) => block_on(it.run(&Context::new(global)?)),
            Self::Edit(it) => block_on(it.run(&Context::new(global)?)),
        }
    }
}

/// Runs a control verb without options of its own.
fn plain(verb: Verb, targets: &Targets, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let context = Context::new(global)?;
    block_on(control::apply(verb.with_rollback(true), targets, &context))
}

/// Runs a command without an engine, on the current thread.
fn block_on(command: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(command)
}

/// Runs a command with an engine, on all cores.
fn block_on_all_cores(command: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }
}
