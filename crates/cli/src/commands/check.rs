//! `everstep check`: looks for damage in the directory of an embedded store.

use std::ffi::OsString;

use clap::Args;
use everstep_store_embedded::{CheckReport, Damage};
use serde_json::json;

use crate::arguments::GlobalOptions;
use crate::exit::Exit;
use crate::hosting::data_directory;
use crate::output::{Output, shell_word};

const EXAMPLES: &str = "\
Examples:
  everstep check                    the store in ./.everstep
  everstep check --data /var/lib/everstep --json

Reads all files and changes none. The server must be stopped. Exits with 3 if anything is damaged; `everstep salvage` \
then recovers the rest.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// Directory of the store [default: ./.everstep]
    #[arg(long, value_name = "DIR")]
    data: Option<OsString>,
}

pub(crate) fn run(arguments: &Check, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let directory = data_directory(arguments.data.clone(), global)?;
    let report = everstep_store_embedded::check(&directory)?;
    let place = directory.display();
    let out = Output::new(global.json);
    match out.is_json {
        true => out.json(&as_json(&report))?,
        false => out.line(&as_text(&report, &place.to_string()))?,
    }
    Ok(match report.damage.is_empty() {
        true => Exit::Success,
        false => Exit::Damaged,
    })
}

fn as_text(report: &CheckReport, place: &str) -> String {
    if report.damage.is_empty() {
        return format!("{place} is intact: {} streams", report.streams);
    }
    format!(
        "{}\n{place} is damaged. Copy it, and then recover what can be read: everstep salvage --data {} --to DIR",
        lines(&report.damage),
        shell_word(place)
    )
}

pub(super) fn lines(damage: &[Damage]) -> String {
    let lines: Vec<String> = damage.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn as_json(report: &CheckReport) -> serde_json::Value {
    json!({"damage": damage_json(&report.damage), "streams": report.streams})
}

pub(super) fn damage_json(damage: &[Damage]) -> serde_json::Value {
    let damage = damage.iter();
    damage
        .map(|damage| json!({"place": damage.place, "detail": damage.detail}))
        .collect()
}
