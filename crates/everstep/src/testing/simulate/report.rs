//! The report of a failed case: what is wrong, how to reproduce it, its faults, and its timeline.

use std::fmt;

use super::case::CaseResult;
use super::case_failure::CaseFailure;
use super::plan::{CaseName, Plan};
use super::scenario::Scenario;

/// The panic message of a failed simulation.
pub(super) struct Report<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a Plan,
    /// The minimised case.
    pub(super) enough: &'a Plan,
    pub(super) failure: &'a CaseFailure,
    /// The result of the minimised case.
    pub(super) case_result: &'a CaseResult,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (workflow, which) = (&self.scenario.workflow, &self.plan.which);
        match which {
            CaseName::Clean => writeln!(f, "workflow `{workflow}` fails without any fault")?,
            CaseName::Seed(seed) => writeln!(f, "workflow `{workflow}` fails with seed {seed}")?,
            CaseName::Before(_) | CaseName::After(_) | CaseName::Failing(_) => {
                writeln!(f, "workflow `{workflow}` fails in case {which}")?;
            }
        }
        writeln!(f, "\n{}", self.failure)?;
        writeln!(f, "\nRun only this case again:\n    {}", command(which))?;
        if !self.plan.faults.is_empty() {
            self.write_faults(f)?;
        }
        writeln!(f, "\nWhat happened, in true time since the start:")?;
        let mut lines = self.case_result.timeline.lines().iter();
        lines.try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Report<'_> {
    fn write_faults(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, enough) = (&self.plan.faults, &self.enough.faults);
        writeln!(f, "\nFaults:")?;
        for fault in enough {
            writeln!(f, "    {}", fault.describe(self.scenario))?;
        }
        if enough.is_empty() {
            let none = "none is needed: the seed's random numbers are enough";
            writeln!(f, "    {none}")?;
        }
        let needless = all.len() - enough.len();
        if needless > 0 {
            writeln!(f, "    (and {needless} more, which it fails without)")?;
        }
        Ok(())
    }
}

/// The command that reproduces the case. The thread of a test has the test's name.
fn command(which: &CaseName) -> String {
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let test = test.map(|name| format!(" {name}")).unwrap_or_default();
    format!("EVERSTEP_SEED={which} cargo test{test}")
}
