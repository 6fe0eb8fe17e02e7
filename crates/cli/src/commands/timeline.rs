//! `everstep timeline`: prints what happened in a run, and when.

use clap::Args;
use serde_json::value::RawValue;

use super::pages::TimelinePages;
use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;
use crate::local_time::LocalClock;
use crate::timeline::ServerLine;

const EXAMPLES: &str = "\
Examples:
  everstep timeline order-7
  everstep timeline order-7@1                   the first generation of a run that was restarted
  everstep timeline order-7 --json | jq .sentence

`everstep tail` follows a run until it ends.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Timeline {
    /// ID of the run, or of one of its generations, such as order-7@1
    #[arg(value_parser = values::run)]
    run: String,
}

pub(crate) async fn run(arguments: &Timeline, context: &Context) -> anyhow::Result<Exit> {
    let mut pages = TimelinePages::of(&arguments.run, 0);
    let mut clock = LocalClock::new();
    while let Some(lines) = pages.next(context, false).await? {
        for line in lines {
            print(&line, &mut clock, context)?;
        }
    }
    Ok(Exit::Success)
}

/// Prints a line of a timeline.
pub(super) fn print(
    line: &RawValue,
    clock: &mut LocalClock,
    context: &Context,
) -> anyhow::Result<()> {
    let parsed: ServerLine = serde_json::from_str(line.get())?;
    let out = &context.out;
    out.line(&match out.is_json {
        true => line.get().to_owned(),
        false => parsed.render().format(clock, out.paint, ""),
    })?;
    Ok(())
}
