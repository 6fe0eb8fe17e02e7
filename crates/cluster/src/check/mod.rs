//! What must hold when all is over: the journals as they are in the database, what clients were told, and what happened outside,
//! compared with each other and with the programs. The numbers are those of the invariants (`docs/simulation.md`).

mod effects;
mod outcomes;
mod reading;
mod replaying;
mod timers;

use everstep_sim::Violation;
use everstep_sim::check::check_journals;

use crate::clients::Told;
use crate::ledger::Line;
use crate::nemesis::Troubles;

pub(crate) use reading::{Database, Journal};

/// What was compared, so that nobody takes nothing for success.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) runs: usize,
    pub(crate) records: usize,
    pub(crate) steps: usize,
    pub(crate) effects: usize,
    pub(crate) timers: usize,
    /// Sleeps whose length was compared with the true clock.
    pub(crate) sleeps: usize,
    /// Runs that had more than one executor.
    pub(crate) taken_over: usize,
}

/// Everything that is known.
pub(crate) struct Evidence<'a> {
    pub(crate) journals: Vec<Journal>,
    pub(crate) told: &'a [Told],
    pub(crate) lines: Vec<Line>,
    pub(crate) troubles: &'a Troubles,
}

/// Compares all of it.
pub(crate) fn check(evidence: &Evidence<'_>) -> (Vec<Violation>, Figures) {
    let Evidence {
        journals,
        told,
        lines,
        troubles,
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
    found.extend(outcomes::check(journals, told));
    found.extend(journals.iter().filter_map(replaying::check));
    let (steps, broken) = effects::check(journals, told, lines);
    figures.steps = steps;
    found.extend(broken);
    let (timers, broken) = timers::check_once(journals);
    figures.timers = timers;
    found.extend(broken);
    let (sleeps, broken) = timers::check_early(journals, lines, troubles);
    figures.sleeps = sleeps;
    found.extend(broken);
    (found, figures)
}
