//! `everstep show`: shows one run in detail.

use std::time::SystemTime;

use clap::Args;
use everstep_model::record::ForkReason;
use everstep_model::{Failure, RunStatus, Timestamp};
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{
    OriginView, RollbackView, RunView, StepView, WaitKind, WaitView, WhyView,
};

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;
use crate::local_time::local_time;
use crate::output::{
    Colour, Output, Table, escape_controls, format_duration, plain, relative_time, shell_word,
    truncate,
};
use crate::runs;

const EXAMPLES: &str = "\
Examples:
  everstep show order-7
  everstep show order-7 --wait              wait for its end; exit code 8 if it did not complete
  everstep show order-7@1                   the first generation of a run that was restarted
  everstep show order-7 --json | jq .steps";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
    /// Wait for the run to end
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(arguments: &Show, context: &Context) -> anyhow::Result<Exit> {
    if arguments.wait {
        let run = runs::wait_for_end(context, &arguments.run).await?;
        return print_end(&context.out, &run);
    }
    let run = runs::get(context, &arguments.run).await?;
    match context.out.is_json {
        true => context.out.json(&run)?,
        false => print(
            context,
            &run,
            queued_because(context, arguments, &run).await?,
        )?,
    }
    Ok(Exit::Success)
}

/// Returns why a queued run is not executed.
async fn queued_because(
    context: &Context,
    arguments: &Show,
    run: &RunView,
) -> anyhow::Result<Option<String>> {
    if run.status != RunStatus::Queued {
        return Ok(None);
    }
    let path = format!("workflows/{}/why", segment(&arguments.run));
    let why: WhyView = context.server.get(&path).await?;
    let reason = why.sentence.split_once(": ");
    Ok(reason.map(|(_, reason)| reason.to_owned()))
}

/// Prints the final status of a run, with its result or error.
pub(super) fn print_end(out: &Output, run: &RunView) -> anyhow::Result<Exit> {
    let mut text = format!("{} is {}", run.id, painted_status(out, run));
    if let Some(result) = &run.result {
        text.push_str(&format!(": {}", escape_controls(result.as_str())));
    }
    if let Some(error) = &run.error {
        text.push_str(&format!(": {}", describe_error(error)));
    }
    out.result(run, &text)?;
    Ok(runs::exit_of(run.status))
}

fn painted_status(out: &Output, run: &RunView) -> String {
    out.paint
        .paint(Colour::of_run(run.status), run.status.as_str())
}

fn describe_error(error: &Failure) -> String {
    let code = escape_controls(error.code.as_str());
    format!("{} [{code}]", truncate(&error.message))
}

fn print(context: &Context, run: &RunView, queued_because: Option<String>) -> std::io::Result<()> {
    let out = &context.out;
    let now: Timestamp = SystemTime::now().into();
    let field = |name: &str, text: String| {
        let name = out.paint.paint(Colour::Quiet, &format!("{name:10}"));
        out.line(&format!("{name} {text}"))
    };
    let id = out.paint.paint(Colour::Strong, run.id.as_str());
    out.line(&format!("{id} is {}", painted_status(out, run)))?;
    let workflow = format!("{} (version {})", run.workflow, run.version);
    field("workflow", workflow)?;
    if run.generation > 1 {
        field("generation", run.generation.to_string())?;
    }
    if let Some(origin) = &run.forked_from {
        let (name, text) = describe_origin(origin);
        field(name, text)?;
    }
    field("created", relative_time(run.created_at, now))?;
    if let Some(end) = run.completed_at {
        let took = format_duration(run.created_at.until(end));
        let ended = format!("{}, after {took}", relative_time(end, now));
        field("ended", ended)?;
    }
    if !run.tags.is_empty() {
        field("tags", escape_controls(&run.tags.join(" ")))?;
    }
    field("input", truncate(run.input.as_str()))?;
    if let Some(result) = &run.result {
        field("result", truncate(result.as_str()))?;
    }
    for (name, error) in [("error", &run.error), ("rollback", &run.rollback_error)] {
        if let Some(error) = error {
            field(name, out.paint.paint(Colour::Bad, &describe_error(error)))?;
        }
    }
    if let Some(reason) = &run.reason {
        field("reason", truncate(reason))?;
    }
    if let Some(reason) = queued_because {
        field("queued", escape_controls(&reason))?;
    }
    if run.execution_attempt > 1 {
        field("attempt", describe_attempt(run))?;
    }
    if let Some(at) = run.no_return_at {
        field("no return", format!("passed {}", relative_time(at, now)))?;
    }
    if let Some(rollback) = &run.rollback {
        field("rollback", describe_rollback(rollback))?;
    }
    print_steps(out, &run.steps)?;
    print_waits(context, run, now)
}

/// Returns the name and the text of the line about the journal that the run was copied from.
fn describe_origin(origin: &OriginView) -> (&'static str, String) {
    let (name, from) = match origin.reason {
        ForkReason::Fork if origin.generation > 1 => {
            ("forked", format!("{}@{}", origin.run, origin.generation))
        }
        ForkReason::Fork => ("forked", origin.run.to_string()),
        ForkReason::Restart => ("restarted", format!("generation {}", origin.generation)),
        ForkReason::Recover => ("recovered", format!("generation {}", origin.generation)),
        ForkReason::RetryRollback => ("retried", format!("generation {}", origin.generation)),
    };
    let at = origin.at.as_ref().map(|at| format!(" at {at}"));
    (
        name,
        escape_controls(&format!("from {from}{}", at.unwrap_or_default())),
    )
}

fn describe_attempt(run: &RunView) -> String {
    let attempt = format!("{} of the whole function", run.execution_attempt);
    match run.execution_retries {
        Some(retries) => format!("{attempt}, at most {retries} retries"),
        None => attempt,
    }
}

fn describe_rollback(rollback: &RollbackView) -> String {
    let undone = match rollback.undone {
        1 => "1 step undone".to_owned(),
        n => format!("{n} steps undone"),
    };
    let Some(step) = &rollback.step else {
        return undone;
    };
    let step = escape_controls(step);
    let attempt = rollback.attempt;
    match (&rollback.error, rollback.retry_at) {
        (Some(error), Some(at)) => {
            let (at, error) = (local_time(at), describe_error(error));
            format!("{undone}, attempt {attempt} to undo `{step}` failed: {error}; retry at {at}")
        }
        _ => format!("{undone}, undoing `{step}` (attempt {attempt})"),
    }
}

fn print_steps(out: &Output, steps: &[StepView]) -> std::io::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["STEP", "STATUS", "ATTEMPTS", "TOOK", "RESULT"]);
    for step in steps {
        let took = step.started_at.zip(step.completed_at);
        let took = took.map(|(start, end)| format_duration(start.until(end)));
        let result = match (&step.result, &step.error) {
            _ if step.redacted => "(secret)".to_owned(),
            (Some(result), _) => truncate(result.as_str()),
            (None, Some(error)) => truncate(&error.message),
            (None, None) => String::new(),
        };
        table.row([
            plain(&step.id),
            (step.status.to_string(), Colour::of_step(step.status)),
            plain(step.attempts),
            plain(took.unwrap_or_default()),
            plain(result),
        ]);
    }
    out.line("")?;
    out.table(&table)
}

fn print_waits(context: &Context, run: &RunView, now: Timestamp) -> std::io::Result<()> {
    let out = &context.out;
    if run.waiting_for.is_empty() {
        return Ok(());
    }
    out.line("")?;
    for wait in &run.waiting_for {
        let text = format!("waiting for {}", describe_wait(wait, now));
        out.coloured_line(Colour::Waiting, &text)?;
        if let Some(command) = suggested_command(context, run, wait) {
            out.coloured_line(Colour::Quiet, &format!("  {command}"))?;
        }
    }
    Ok(())
}

fn describe_wait(wait: &WaitView, now: Timestamp) -> String {
    let (what, is_timeout) = match wait.kind {
        WaitKind::Event => ("event", true),
        WaitKind::Rpc => ("an answer to", true),
        WaitKind::Child => ("child", true),
        WaitKind::Sleep => ("the end of sleep", false),
        WaitKind::Retry => ("the next attempt of", false),
    };
    let name = match wait.kind {
        WaitKind::Sleep | WaitKind::Retry => format!("`{}`", wait.id),
        // The name of the event, rpc or workflow may differ from that of the operation.
        WaitKind::Event | WaitKind::Rpc | WaitKind::Child => {
            format!("`{}` in `{}`", wait.name.as_str(), wait.id)
        }
    };
    let until = match wait.deadline {
        None => String::new(),
        Some(deadline) if now.until(deadline).is_zero() => ", due now".to_owned(),
        Some(deadline) if is_timeout => {
            format!(", until {} at the latest", local_time(deadline))
        }
        Some(deadline) => format!(", at {}", local_time(deadline)),
    };
    format!("{what} {}{until}", escape_controls(&name))
}

/// Returns the command with which a person ends the wait. Only `JSON` must be replaced in it.
fn suggested_command(context: &Context, run: &RunView, wait: &WaitView) -> Option<String> {
    let name = shell_word(&escape_controls(wait.name.as_str()));
    match wait.kind {
        WaitKind::Event => Some(context.command(&format!("send {} {name} JSON", run.id))),
        WaitKind::Rpc => {
            let rpc = run.rpcs.iter().find(|rpc| rpc.method == wait.name);
            let args = rpc.map(|rpc| truncate(rpc.args.as_str()));
            let args = args.map(|args| format!("   # arguments: {args}"));
            let command = context.command(&format!("answer {} {name} JSON", run.id));
            Some(command + &args.unwrap_or_default())
        }
        WaitKind::Child | WaitKind::Sleep | WaitKind::Retry => None,
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::Name;

    use super::*;

    // B559
    #[test]
    fn every_wait_names_its_location() {
        let now: Timestamp = SystemTime::now().into();
        for (kind, expected) in [
            (WaitKind::Event, "event `name` in `scope/op:1`"),
            (WaitKind::Rpc, "an answer to `name` in `scope/op:1`"),
            (WaitKind::Child, "child `name` in `scope/op:1`"),
            (WaitKind::Sleep, "the end of sleep `scope/op:1`, due now"),
            (WaitKind::Retry, "the next attempt of `scope/op:1`, due now"),
        ] {
            let is_timed = matches!(kind, WaitKind::Sleep | WaitKind::Retry);
            let wait = WaitView {
                kind,
                name: Name::new("name").unwrap(),
                id: "scope/op:1".to_owned(),
                since: None,
                deadline: is_timed.then_some(now),
            };
            assert_eq!(describe_wait(&wait, now), expected);
        }
    }
}
