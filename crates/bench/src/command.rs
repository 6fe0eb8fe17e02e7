//! Executes `everstep bench`: measures the chosen workloads, or renders results of an earlier run.

use std::io::Write;

use crate::arguments::{Action, BenchArguments};
use crate::results::{Measured, Results};
use crate::setup::Setup;
use crate::{page, plot, table, workloads};

/// Executes the command and prints its result to stdout.
///
/// # Errors
///
/// Returns a [`UsageError`](crate::UsageError) if the arguments are incomplete, and any other error
/// if a measurement fails or a file cannot be read or written.
pub fn run(arguments: &BenchArguments, is_json: bool) -> anyhow::Result<()> {
    match &arguments.action {
        Some(Action::RecoveryWorker(arguments)) => workloads::run_recovery_worker(arguments),
        Some(Action::IdleProcess(arguments)) => workloads::run_idle_process(arguments),
        Some(Action::Plot(plot)) => plot::plot(&Results::read(&plot.results)?, &plot.out),
        Some(Action::Page(page)) => {
            let results = Results::read(&page.results)?;
            match &page.into {
                Some(into) => page::refresh(&results, into)?,
                None => write!(std::io::stdout(), "{}", page::markdown(&results, None))?,
            }
            Ok(())
        }
        None => measure(arguments, is_json),
    }
}

fn measure(arguments: &BenchArguments, is_json: bool) -> anyhow::Result<()> {
    let setup = Setup::new(arguments)?;
    let mut results = Results::new(arguments);
    for workload in arguments.chosen() {
        let cases = workloads::measure(workload, &setup)?;
        let (workload, about) = workload.name_and_summary();
        results.workloads.push(Measured {
            workload,
            about,
            cases,
        });
        // Write after each workload, so that an interrupted benchmark keeps what it measured.
        if let Some(path) = &arguments.out {
            results.write(path)?;
        }
    }
    setup.progress.clear();
    if let Some(line) = setup.cleanup_hint() {
        writeln!(std::io::stderr(), "{line}")?;
    }
    let text = if is_json {
        serde_json::to_string(&results)?
    } else {
        table::table(&results, arguments.targets)
    };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}
