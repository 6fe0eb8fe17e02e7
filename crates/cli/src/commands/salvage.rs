//! `everstep salvage`: copies what can be read of a damaged embedded store into a new one.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use everstep_store_embedded::SalvageReport;
use serde_json::json;

use super::check::{damage_json, lines};
use crate::arguments::GlobalOptions;
use crate::exit::Exit;
use crate::hosting::{data_directory, own_files};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  everstep salvage --data ./.everstep --to ./salvaged
  everstep serve --data ./salvaged

The old directory is not changed. Incomplete runs and streams are not in the new store; what can be read of them is in \
DIR/damaged, in the format of `everstep export`. The report names all of them.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Salvage {
    /// Directory of the damaged store [default: ./.everstep]
    #[arg(long, value_name = "DIR")]
    data: Option<OsString>,
    /// Directory of the new store, which must be empty
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

pub(crate) fn run(arguments: &Salvage, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let directory = data_directory(arguments.data.clone(), global)?;
    own_files();
    let report = everstep_store_embedded::salvage(&directory, &arguments.to)?;
    let place = arguments.to.display().to_string();
    Output::new(global.json).result(&as_json(&report), &as_text(&report, &place))
}

fn as_text(report: &SalvageReport, place: &str) -> String {
    let mut text = lines(&report.damage);
    for lost in &report.lost {
        text += &format!(
            "\nlost: {} ({}; {} records in {place}/damaged)",
            lost.name, lost.detail, lost.records
        );
    }
    for name in &report.cut {
        text += &format!("\nmay lack its last records: {name}");
    }
    if report.others_may_be_cut {
        text += "\nother streams may be missing or lack their last records";
    }
    if report.rows_may_be_missing {
        text += "\ntimers and open rpcs may be missing; fork a run that no longer continues (everstep fork RUN)";
    }
    let (kept, lost) = (report.streams, report.lost.len());
    text += &format!("\nrecovered {kept} streams into {place}, {lost} are lost");
    text.trim_start().to_owned()
}

fn as_json(report: &SalvageReport) -> serde_json::Value {
    let lost = report.lost.iter();
    let lost: serde_json::Value = lost
        .map(|lost| json!({"name": lost.name, "detail": lost.detail, "records": lost.records}))
        .collect();
    json!({
        "damage": damage_json(&report.damage),
        "streams": report.streams,
        "lost": lost,
        "cut": report.cut,
        "othersMayBeCut": report.others_may_be_cut,
        "rowsMayBeMissing": report.rows_may_be_missing,
    })
}
