//! Shell completion. The script of a shell calls the binary with the words typed so far, so that
//! runs and workflows of the server can be completed too.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, ValueCandidates};
use clap_complete::env::CompleteEnv;
use everstep::ErrorCode;
use everstep_model::RunStatus;
use everstep_protocol::client::CallError;
use everstep_protocol::workflow::TypePage;

use crate::arguments::{GlobalOptions, RunFilter};
use crate::command_line::CommandLine;
use crate::commands::completions::VARIABLE;
use crate::context::Context;
use crate::error_pages;
use crate::runs;

/// How many of the newest runs are candidates.
const RUNS_MAX: usize = 200;
/// How long to wait for the server. Later candidates would interrupt typing.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Prints candidates and ends the process if a shell requests them.
pub(crate) fn complete_if_requested() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Returns the command line with candidates for the arguments that the binary or the server knows.
fn command() -> Command {
    with_candidates(CommandLine::command())
}

fn with_candidates(command: Command) -> Command {
    command
        .mut_args(|argument| {
            let candidates = argument.get_value_names().unwrap_or_default();
            match candidates.first().map(|name| name.as_str()) {
                Some("RUN") => add(argument, run_ids),
                Some("WORKFLOW") => add(argument, workflows),
                Some("STATUS") => add(argument, statuses),
                Some("CODE") => add(argument, error_codes),
                _ => argument,
            }
        })
        .mut_subcommands(with_candidates)
}

fn add(argument: Arg, candidates: impl ValueCandidates + 'static) -> Arg {
    argument.add(ArgValueCandidates::new(candidates))
}

fn statuses() -> Vec<CompletionCandidate> {
    let statuses = RunStatus::ALL.iter();
    statuses
        .map(|status| CompletionCandidate::new(status.as_str()))
        .collect()
}

fn error_codes() -> Vec<CompletionCandidate> {
    let codes = ErrorCode::ALL.iter();
    codes
        .map(|&code| {
            candidate(
                code.as_str(),
                error_pages::summary(code).unwrap_or_default(),
            )
        })
        .collect()
}

fn run_ids() -> Vec<CompletionCandidate> {
    let filter = RunFilter::default();
    let newest = from_server(async |context| runs::list(context, &filter, RUNS_MAX).await);
    let (newest, _) = newest.unwrap_or_default();
    newest
        .iter()
        .map(|run| {
            candidate(
                run.id.as_str(),
                &format!("{}, {}", run.workflow, run.status),
            )
        })
        .collect()
}

fn workflows() -> Vec<CompletionCandidate> {
    let page = from_server(async |context| context.server.get::<TypePage>("types").await);
    let types = page.map(|page| page.types).unwrap_or_default();
    types
        .iter()
        .map(|it| CompletionCandidate::new(it.workflow.to_string()))
        .collect()
}

fn candidate(value: &str, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(about.to_owned().into()))
}

/// Sends a request to the server of the command that is being completed. Failures have no
/// candidates: messages would destroy the line.
fn from_server<T>(request: impl AsyncFnOnce(&Context) -> Result<T, CallError>) -> Option<T> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let context = Context::new(&GlobalOptions::of_unfinished(&words)).ok()?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().ok()?;
    let answer = async { tokio::time::timeout(TIMEOUT, request(&context)).await };
    runtime.block_on(answer).ok()?.ok()
}
