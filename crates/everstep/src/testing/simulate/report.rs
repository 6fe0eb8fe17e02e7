//! The report of a failed case: what is wrong, how to reproduce it, its faults, and its timeline.

use std::fmt::Write;

use super::case::CaseResult;
use super::case_failure::CaseFailure;
use super::plan::{CaseName, Plan};
use super::scenario::Scenario;

pub(super) struct Failed<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a Plan,
    /// The minimised case.
    pub(super) enough: &'a Plan,
    pub(super) failure: &'a CaseFailure,
    /// The result of the minimised case.
    pub(super) case_result: &'a CaseResult,
}

/// The panic message of a failed simulation.
pub(super) fn report(failed: &Failed<'_>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_report(&mut text, failed);
    text
}

fn write_report(text: &mut String, failed: &Failed<'_>) -> std::fmt::Result {
    let (workflow, which) = (&failed.scenario.workflow, &failed.plan.which);
    match which {
        CaseName::Clean => writeln!(text, "workflow `{workflow}` fails without any fault")?,
        CaseName::Seed(seed) => writeln!(text, "workflow `{workflow}` fails with seed {seed}")?,
        CaseName::Before(_) | CaseName::After(_) | CaseName::Failing(_) => {
            writeln!(text, "workflow `{workflow}` fails in case {which}")?;
        }
    }
    writeln!(text, "\n{}", failed.failure)?;
    writeln!(text, "\nRun only this case again:\n    {}", command(which))?;
    if !failed.plan.faults.is_empty() {
        write_faults(text, failed)?;
    }
    writeln!(text, "\nWhat happened, in true time since the start:")?;
    for line in failed.case_result.timeline.lines() {
        writeln!(text, "{line}")?;
    }
    Ok(())
}

fn write_faults(text: &mut String, failed: &Failed<'_>) -> std::fmt::Result {
    let (all, enough) = (&failed.plan.faults, &failed.enough.faults);
    writeln!(text, "\nFaults:")?;
    for fault in enough {
        writeln!(text, "    {}", fault.describe(failed.scenario))?;
    }
    if enough.is_empty() {
        writeln!(
            text,
            "    none is needed: the seed's random numbers are enough"
        )?;
    }
    let needless = all.len() - enough.len();
    if needless > 0 {
        writeln!(text, "    (and {needless} more, which it fails without)")?;
    }
    Ok(())
}

/// The command that reproduces the case. The thread of a test has the test's name.
fn command(which: &CaseName) -> String {
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let test = test.map(|name| format!(" {name}")).unwrap_or_default();
    format!("EVERSTEP_SEED={which} cargo test{test}")
}
