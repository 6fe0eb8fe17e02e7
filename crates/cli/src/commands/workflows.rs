//! `everstep workflows`: lists the workflows that can be started.

use clap::Args;
use everstep_protocol::workflow::{TypePage, TypeView};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Colour, Table, plain};

const EXAMPLES: &str = "\
Examples:
  everstep workflows
  everstep workflows --json | jq -r .type";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Workflows {}

pub(crate) async fn run(context: &Context) -> anyhow::Result<Exit> {
    let page: TypePage = context.server.get("types").await?;
    let out = &context.out;
    if out.is_json {
        return out.json_lines(&page.types);
    }
    if page.types.is_empty() {
        out.line("No worker has offered a workflow yet.")?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&["WORKFLOW", "VERSION", "WORKERS", "EVENTS", "RPCS"]);
    for it in &page.types {
        let (workers, colour) = match it.offered {
            Some((lowest, highest)) if lowest < highest => {
                (format!("versions {lowest} to {highest}"), Colour::Good)
            }
            Some((only, _)) => (format!("version {only}"), Colour::Good),
            None => ("none now".to_owned(), Colour::Waiting),
        };
        let (events, rpcs) = messages(it);
        table.row([
            plain(&it.workflow),
            plain(it.newest),
            (workers, colour),
            plain(events),
            plain(rpcs),
        ]);
    }
    out.table(&table)?;
    Ok(Exit::Success)
}

/// Returns the names of the declared events and rpcs.
fn messages(it: &TypeView) -> (String, String) {
    let Some(described) = &it.description else {
        return (String::new(), String::new());
    };
    let joined = |names: Vec<&str>| names.join(", ");
    let events = described.events.iter().flatten();
    let events = events.map(|(name, _)| name.as_str()).collect();
    let rpcs = described.rpcs.keys().map(String::as_str).collect();
    (joined(events), joined(rpcs))
}
