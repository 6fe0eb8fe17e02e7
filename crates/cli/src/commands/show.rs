//! `everstep show`: one run in full.

use std::time::SystemTime;

use clap::Args;
use everstep_model::Timestamp;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{RunView, StepView, WaitKind, WaitView};

use super::waiting;
use crate::ending::Ending;
use crate::output::{Colour, Output, Table, ago, clean, lasting, short};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep show order-7
  everstep show order-7 --wait              when it is over; exit code 8 if it did not complete
  everstep show order-7 --json | jq .steps";

/// Shows a run: what it was given, what it did, what it waits for, how it ended.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The run.
    run: String,
    /// Wait until it is over.
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(arguments: &Show, session: &Session) -> anyhow::Result<Ending> {
    if arguments.wait {
        let run = waiting::ended(session, &arguments.run).await?;
        return waiting::tell(&session.out, &run);
    }
    let run = get(session, &arguments.run).await?;
    match session.out.is_json {
        true => session.out.json(&run)?,
        false => print(&session.out, &run)?,
    }
    Ok(Ending::Well)
}

/// A run as it is now.
pub(crate) async fn get(session: &Session, id: &str) -> anyhow::Result<RunView> {
    let path = format!("workflows/{}", segment(id));
    Ok(session.server.get(&path).await?)
}

fn print(out: &Output, run: &RunView) -> std::io::Result<()> {
    let now: Timestamp = SystemTime::now().into();
    let fact = |name: &str, text: String| {
        let name = out.paint.paint(Colour::Quiet, &format!("{name:10}"));
        out.line(&format!("{name} {text}"))
    };
    let id = out.paint.paint(Colour::Strong, run.id.as_str());
    let status = out
        .paint
        .paint(Colour::of_run(run.status), run.status.as_str());
    out.line(&format!("{id} is {status}"))?;
    fact(
        "workflow",
        format!("{} (version {})", run.workflow, run.version),
    )?;
    if run.generation > 1 {
        fact("generation", run.generation.to_string())?;
    }
    fact("created", ago(run.created_at, now))?;
    if let Some(end) = run.completed_at {
        let took = lasting(run.created_at.until(end));
        fact("ended", format!("{}, after {took}", ago(end, now)))?;
    }
    if !run.tags.is_empty() {
        fact("tags", clean(&run.tags.join(" ")))?;
    }
    fact("input", short(run.input.as_str()))?;
    if let Some(result) = &run.result {
        fact("result", short(result.as_str()))?;
    }
    for (name, error) in [("error", &run.error), ("rollback", &run.rollback_error)] {
        if let Some(error) = error {
            let text = format!("{} [{}]", short(&error.message), clean(error.code.as_str()));
            fact(name, out.paint.paint(Colour::Bad, &text))?;
        }
    }
    if let Some(reason) = &run.reason {
        fact("reason", short(reason))?;
    }
    print_steps(out, &run.steps)?;
    print_waits(out, run, now)
}

fn print_steps(out: &Output, steps: &[StepView]) -> std::io::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["STEP", "STATUS", "ATTEMPTS", "TOOK", "RESULT"]);
    for step in steps {
        let took = step.started_at.zip(step.completed_at);
        let result = match (&step.result, &step.error) {
            _ if step.redacted => "(withheld)".to_owned(),
            (Some(result), _) => short(result.as_str()),
            (None, Some(error)) => short(&error.message),
            (None, None) => String::new(),
        };
        let plain = |text: String| (text, Colour::Plain);
        table.row([
            plain(step.id.clone()),
            (step.status.to_string(), Colour::of_step(step.status)),
            plain(step.attempts.to_string()),
            plain(took.map_or_else(String::new, |(start, end)| lasting(start.until(end)))),
            plain(result),
        ]);
    }
    out.line("")?;
    out.table(&table)
}

fn print_waits(out: &Output, run: &RunView, now: Timestamp) -> std::io::Result<()> {
    if run.waiting_for.is_empty() {
        return Ok(());
    }
    out.line("")?;
    for wait in &run.waiting_for {
        let text = waits_for(wait, now);
        out.line(
            &out.paint
                .paint(Colour::Waiting, &format!("waits for {text}")),
        )?;
        if let Some(next) = what_to_do(run, wait) {
            out.line(&out.paint.paint(Colour::Quiet, &format!("  {next}")))?;
        }
    }
    Ok(())
}

fn waits_for(wait: &WaitView, now: Timestamp) -> String {
    let what = match wait.kind {
        WaitKind::Event => "the event",
        WaitKind::Rpc => "an answer to",
        WaitKind::Child => "its child, a",
        WaitKind::Sleep => "the end of its sleep",
        WaitKind::Retry => "the next attempt of",
    };
    let until = wait
        .deadline
        .map(|deadline| match now.until(deadline).is_zero() {
            true => ", any moment".to_owned(),
            false => match wait.kind {
                WaitKind::Event | WaitKind::Rpc | WaitKind::Child => {
                    format!(", at most until {deadline}")
                }
                WaitKind::Sleep | WaitKind::Retry => format!(", at {deadline}"),
            },
        });
    format!(
        "{what} `{}`{}",
        clean(wait.name.as_str()),
        until.unwrap_or_default()
    )
}

fn what_to_do(run: &RunView, wait: &WaitView) -> Option<String> {
    let name = clean(wait.name.as_str());
    match wait.kind {
        WaitKind::Event => Some(format!("everstep send {} {name} JSON", run.id)),
        WaitKind::Rpc => {
            let asked = run.rpcs.iter().find(|rpc| rpc.method == wait.name);
            let about = asked.map(|rpc| format!("   # it asks about {}", short(rpc.args.as_str())));
            let about = about.unwrap_or_default();
            Some(format!("everstep answer {} {name} JSON{about}", run.id))
        }
        WaitKind::Child | WaitKind::Sleep | WaitKind::Retry => None,
    }
}
