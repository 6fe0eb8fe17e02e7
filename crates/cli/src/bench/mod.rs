//! `everstep bench`: how fast workflows run here, and next to it, in the same run, the limits of the machine.
//!
//! ```text
//!   a workload:  limits ─▶ round ─▶ limits ─▶ round ─▶ … ─▶ limits      (workloads/)
//!                            │ named values (Rounds)
//!                            ▼
//!                medians, spread and targets (Case) ─▶ Results ─▶ JSON, table, page, charts
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
mod page;
mod payload;
mod place;
mod plot;
mod progress;
mod results;
mod setup;
mod statistics;
mod store_alone;
mod store_place;
mod svg;
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
        Some(Part::AtWork(arguments)) => workloads::be_at_work(arguments)?,
        Some(Part::Attend(arguments)) => workloads::attend(arguments)?,
        Some(Part::Plot(plot)) => plot::plot(&Results::read(&plot.results)?, &plot.out)?,
        Some(Part::Page(page)) => {
            let results = Results::read(&page.results)?;
            match &page.into {
                Some(into) => page::refresh(&results, into)?,
                None => write!(std::io::stdout(), "{}", page::markdown(&results, None))?,
            }
        }
        None => measure(arguments, is_json)?,
    }
    Ok(Ending::Well)
}

fn measure(arguments: &Bench, is_json: bool) -> anyhow::Result<()> {
    let setup = Setup::new(arguments)?;
    let mut results = Results::new(arguments);
    for workload in arguments.chosen() {
        let cases = workloads::measure(workload, &setup)?;
        let (workload, about) = workload.told();
        results.workloads.push(Measured {
            workload,
            about,
            cases,
        });
        // Each as soon as it is known: the next one may take long.
        if let Some(path) = &arguments.out {
            results.write(path)?;
        }
    }
    setup.progress.clear();
    if let Some(line) = setup.how_to_clear() {
        writeln!(std::io::stderr(), "{line}")?;
    }
    let text = if is_json {
        serde_json::to_string(&results)?
    } else {
        table::table(&results)
    };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}
