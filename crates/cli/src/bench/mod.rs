//! `everstep bench`: how fast workflows run here, and next to it, in the same run, the limits of the machine.
//!
//! ```text
//!   a workload:  limits ─▶ round ─▶ limits ─▶ round ─▶ … ─▶ limits      (workloads/)
//!                            │ named values (Rounds)
//!                            ▼
//!                medians, spread and targets (Case) ─▶ Results ─▶ JSON, table
//! ```
//!
//! Machines are noisy, so workflows and limits take turns: each round is compared with the limits just before and after it,
//! and the median of these comparisons is what is reported. A workload only measures; what becomes of its figures is decided
//! here, for all of them alike.

mod arguments;
mod case;
mod cpu;
mod disk_limits;
mod figure;
mod limits;
mod memory;
mod payload;
mod place;
mod progress;
mod results;
mod setup;
mod statistics;
mod store_alone;
mod store_place;
mod table;
mod workloads;

use std::io::Write;

use crate::ending::Ending;
pub(crate) use arguments::Bench;
use arguments::Part;
use results::{Measured, Results};
use setup::Setup;

pub(crate) fn run(arguments: &Bench, is_json: bool) -> anyhow::Result<Ending> {
    match &arguments.part {
        Some(Part::AtWork(arguments)) => workloads::be_at_work(arguments),
        Some(Part::Attend(arguments)) => workloads::attend(arguments),
        None => measure(arguments, is_json),
    }
}

fn measure(arguments: &Bench, is_json: bool) -> anyhow::Result<Ending> {
    let setup = Setup::new(arguments)?;
    let mut results = Results::new(arguments);
    for &workload in arguments.workload.iter() {
        let cases = workloads::measure(workload, &setup)?;
        let (workload, about) = workload.told();
        results.workloads.push(Measured {
            workload,
            about,
            cases,
        });
    }
    setup.progress.clear();
    if let Some(line) = setup.how_to_clear() {
        writeln!(std::io::stderr(), "{line}")?;
    }
    if let Some(path) = &arguments.out {
        results.write(path)?;
    }
    let text = if is_json {
        serde_json::to_string(&results)?
    } else {
        table::table(&results)
    };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(Ending::Well)
}
