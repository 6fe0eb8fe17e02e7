//! Invariant 13: starts with the same id or key, concurrent or repeated, create one run and return
//! the same answer, and the first input stays.

use std::collections::BTreeMap;

use everstep_model::Generation;

use crate::observed::{Journals, Ledger, Stream, Violation};
use crate::program::Op;

pub(super) fn check(journals: &Journals, ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut created: BTreeMap<&str, usize> = BTreeMap::new();
    for (run, was_created) in &ledger.starts {
        *created.entry(run).or_default() += usize::from(*was_created);
    }
    for (run, times) in created {
        let is_first = |stream: &&Stream| stream.generation() == Some(Generation::FIRST);
        if times > journals.generations(run).filter(is_first).count() {
            let what = format!("{times} answers report the creation of {run}");
            found.push(Violation::of(13, what));
        }
    }
    for (key, runs) in &ledger.keys {
        let pairs = runs.iter().flat_map(|one| {
            let others = runs.iter().filter(move |other| one < *other);
            others.map(move |other| (one, other))
        });
        for (one, other) in pairs {
            if !comes_after(journals, one, other) && !comes_after(journals, other, one) {
                let what = format!("key {key} led to {one} and to {other}");
                found.push(Violation::of(13, what));
            }
        }
    }
    found.extend(check_inputs(journals, ledger));
    found
}

/// Whether a run was removed before another was created, so that its key was free again.
fn comes_after(journals: &Journals, first: &str, second: &str) -> bool {
    let gone = journals
        .generations(first)
        .filter_map(|stream| stream.removed_at);
    let first_gone = gone.map(|(by_store, _)| by_store).min();
    let last_created = journals
        .generations(second)
        .map(|stream| stream.created_at)
        .max();
    first_gone.is_some_and(|gone| last_created.is_some_and(|created| gone <= created))
}

/// Checks that a run has an input that a client gave it.
fn check_inputs(journals: &Journals, ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    for (run, programs) in &ledger.programs {
        for stream in journals.generations(run) {
            let Some(created) = stream.creation() else {
                continue;
            };
            let input: Option<Vec<Op>> = created.input.decode().ok();
            if !input.is_some_and(|input| programs.contains(&input)) {
                found.push(stream.violation(13, "no client gave it its input"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::samples::{FINE, at, broken, number, stream};

    #[test]
    fn two_creations_of_one_run_are_found() {
        let journals = Journals::of([stream("a", Vec::new())]);
        let found = |answers: &[bool]| {
            let starts = answers.iter().map(|created| ("a".to_owned(), *created));
            let ledger = Ledger {
                starts: starts.collect(),
                ..Ledger::default()
            };
            broken(&check(&journals, &ledger))
        };
        assert_eq!(found(&[true, false]), FINE);
        assert_eq!(found(&[true, true]), [13]);
    }

    #[test]
    fn a_key_of_two_runs_and_an_unknown_input_are_found() {
        let mut ledger = Ledger::default();
        let runs = ["a", "b"].map(str::to_owned);
        ledger.keys.insert("k".to_owned(), runs.into());
        assert_eq!(broken(&check(&Journals::default(), &ledger)), [13]);
        let twins = |created: u64| {
            let (mut first, mut second) = (stream("a", Vec::new()), stream("b", Vec::new()));
            first.removed_at = Some((at(10), at(10)));
            (second.number, second.created_at) = (number(2), at(created));
            broken(&check(&Journals::of([first, second]), &ledger))
        };
        assert_eq!(twins(11), FINE, "it was free again");
        assert_eq!(twins(9), [13]);
        let journals = Journals::of([stream("a", Vec::new())]);
        let mut ledger = Ledger::default();
        ledger.programs.insert("a".to_owned(), vec![vec![Op::Note]]);
        assert_eq!(broken(&check(&journals, &ledger)), [13]);
    }
}
