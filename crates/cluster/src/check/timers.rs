//! Invariants 19 and 20: timers fire once each, and while all clocks were right, no sleep was
//! shorter by the true clock than requested.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::Body;
use everstep_sim::Violation;

use super::reading::Journal;
use crate::ledger::Line;
use crate::nemesis::InjectedFaults;
use crate::program::{Op, location};

/// Clocks have a resolution of one millisecond, and times are truncated.
const ROUNDING_MS: u64 = 1;

/// Returns the number of timers that fired, and violations for those that fired twice.
pub(super) fn check_once(journals: &[Journal]) -> (usize, Vec<Violation>) {
    let mut count = 0;
    let mut found = Vec::new();
    for journal in journals {
        let mut fired = BTreeSet::new();
        for entry in &journal.stream.entries {
            let Body::TimerFired(timer) = &entry.record.body else {
                continue;
            };
            count += 1;
            let which = format!("{:?} {:?} {}", timer.purpose, timer.location, timer.due);
            if entry.record.time < timer.due {
                let what = format!("{}: {which} fired early", journal.run);
                found.push(Violation::of(19, what));
            }
            if !fired.insert(which.clone()) {
                let what = format!("{}: {which} fired twice", journal.run);
                found.push(Violation::of(20, what));
            }
        }
    }
    (count, found)
}

/// Returns the number of compared sleeps, and violations for those that were too short.
pub(super) fn check_early(
    journals: &[Journal],
    lines: &[Line],
    faults_injected: &InjectedFaults,
) -> (usize, Vec<Violation>) {
    let mut first: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for line in lines {
        let step = (line.effect.run.as_str(), line.effect.location.clone());
        first.entry(step).or_insert(line.at);
    }
    let mut compared = 0;
    let mut found = Vec::new();
    for journal in journals {
        let run = journal.run.as_str();
        let ops = journal.program().map(|program| program.ops);
        for (location, ms) in sleeps(&ops.unwrap_or_default(), "r") {
            let at = |moment: &str| first.get(&(run, format!("{location}-{moment}"))).copied();
            let (Some(began), Some(ended)) = (at("before"), at("after")) else {
                continue;
            };
            if !faults_injected.clocks_were_right(began, ended) {
                continue;
            }
            compared += 1;
            let took = ended.saturating_sub(began);
            if took + ROUNDING_MS < ms {
                let what = format!("{run}: the sleep at {location} took {took} of {ms} ms");
                found.push(Violation::of(19, what));
            }
        }
    }
    (compared, found)
}

/// Returns the sleeps of a sequence within its own run, with their paths.
fn sleeps(ops: &[Op], path: &str) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        let location = location(path, index);
        match op {
            Op::Sleep { ms } => all.push((location, *ms)),
            Op::Join(parts) => {
                for (number, ops) in parts.iter().enumerate() {
                    all.extend(sleeps(ops, &format!("{location}-{number}")));
                }
            }
            Op::Step { .. } | Op::Fenced { .. } | Op::Child(_) | Op::Event | Op::Loop { .. } => {}
        }
    }
    all
}
