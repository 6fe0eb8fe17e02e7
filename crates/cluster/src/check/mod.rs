//! The final checks: compares the journals in the database, the observations of the clients and the
//! recorded effects with each other and with the programs. The numbers refer to the invariants
//! (`docs/invariants.md`).

mod effects;
mod outcomes;
mod reading;
mod replaying;
mod timers;

use everstep_sim::Violation;
use everstep_sim::check::check_journals;

use crate::clients::Observed;
use crate::ledger::Line;
use crate::nemesis::InjectedFaults;

pub(crate) use reading::{Database, Journal};

/// What was compared. Guards against a run that succeeds because it checked nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) runs: usize,
    pub(crate) records: usize,
    pub(crate) steps: usize,
    pub(crate) effects: usize,
    pub(crate) timers: usize,
    /// Sleeps whose duration was compared with the true clock.
    pub(crate) sleeps: usize,
    /// Runs that had more than one executor.
    pub(crate) taken_over: usize,
}

/// The input of the checks.
pub(crate) struct Evidence<'a> {
    pub(crate) journals: Vec<Journal>,
    pub(crate) observed: &'a [Observed],
    pub(crate) lines: Vec<Line>,
    pub(crate) faults_injected: &'a InjectedFaults,
}

pub(crate) fn check(evidence: &Evidence<'_>) -> (Vec<Violation>, Figures) {
    let Evidence {
        journals,
        observed,
        lines,
        faults_injected,
    } = evidence;
    let streams = journals.iter().map(|journal| journal.stream.clone());
    let mut found = check_journals(streams.collect());
    let mut figures = Figures {
        runs: journals.len(),
        records: journals.iter().map(|it| it.stream.entries.len()).sum(),
        effects: lines.len(),
        taken_over: journals.iter().filter(|it| it.epoch > 1).count(),
        ..Figures::default()
    };
    found.extend(outcomes::check(journals, observed));
    found.extend(journals.iter().filter_map(replaying::check));
    let (steps, broken) = effects::check(journals, observed, lines);
    figures.steps = steps;
    found.extend(broken);
    let (timers, broken) = timers::check_once(journals);
    figures.timers = timers;
    found.extend(broken);
    let (sleeps, broken) = timers::check_early(journals, lines, faults_injected);
    figures.sleeps = sleeps;
    found.extend(broken);
    (found, figures)
}
