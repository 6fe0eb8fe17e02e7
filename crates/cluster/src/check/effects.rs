//! Invariants 8, 10 and 22, checked against the recorded effects: every recorded result has an
//! effect, all attempts of a step share an idempotency key that no other step uses, no fenced step
//! begins after the end of its run was seen, and failed runs were undone.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::Body;
use everstep_sim::Violation;

use super::reading::Journal;
use crate::clients::Observed;
use crate::ledger::{EffectKind, Line};
use crate::program::value;

/// Returns the number of compared results and the violations.
pub(super) fn check(
    journals: &[Journal],
    observed: &[Observed],
    lines: &[Line],
) -> (usize, Vec<Violation>) {
    let mut found = keys(lines);
    found.extend(fenced(observed, lines));
    let begun: BTreeSet<(&str, &str)> = lines
        .iter()
        .map(|line| (line.effect.run.as_str(), line.effect.location.as_str()))
        .collect();
    let mut steps = 0;
    for journal in journals {
        for entry in &journal.stream.entries {
            let (location, undone) = match &entry.record.body {
                Body::StepCompleted(step) => (&step.location, false),
                Body::UndoCompleted(undo) => (&undo.location, true),
                _ => continue,
            };
            steps += 1;
            let (run, name) = (journal.run.as_str(), location.name.as_str());
            let effect = match undone {
                true => value(run, name),
                false => name.to_owned(),
            };
            if !begun.contains(&(run, effect.as_str())) {
                let what = format!("{run}: {location} has a result and never happened");
                found.push(Violation::of(11, what));
            }
        }
    }
    (steps, found)
}

/// Checks that all attempts of a step have the same key, which no other step uses.
fn keys(lines: &[Line]) -> Vec<Violation> {
    let mut by_step: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut by_key: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    let attempts = lines.iter().map(|line| &line.effect);
    for effect in attempts.filter(|effect| effect.kind != EffectKind::Undo) {
        let step = (effect.run.as_str(), effect.location.as_str());
        let key = effect.key.as_str();
        if *by_step.entry(step).or_insert(key) != key || *by_key.entry(key).or_insert(step) != step
        {
            let what = format!("{step:?} was tried under the key {key}, which is not its own");
            found.push(Violation::of(10, what));
        }
    }
    found
}

/// Checks that no fenced step begins after a client saw the end of its run.
fn fenced(observed: &[Observed], lines: &[Line]) -> Vec<Violation> {
    let ends: BTreeMap<&str, u64> = observed
        .iter()
        .filter_map(|observed| Some((observed.run.as_str(), observed.ends.first()?.1)))
        .collect();
    let fenced = lines
        .iter()
        .filter(|line| line.effect.kind == EffectKind::Fenced);
    let late = fenced.filter(|line| {
        let run = line.effect.run.as_str();
        ends.get(run).is_some_and(|ended| line.at > *ended)
    });
    late.map(|line| {
        let what = format!("{:?} began after the end of its run was seen", line.effect);
        Violation::of(8, what)
    })
    .collect()
}
