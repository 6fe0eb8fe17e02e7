//! Invariants 4, 13, 14, 16, 26 and 29: every acknowledged run exists once and ended as its program
//! determines.

use std::collections::BTreeMap;

use everstep_model::Body;
use everstep_sim::Violation;

use super::reading::Journal;
use crate::clients::Observed;
use crate::program::{Op, Outcome, Program};

pub(super) fn check(journals: &[Journal], observed: &[Observed]) -> Vec<Violation> {
    let by_run: BTreeMap<&str, &Journal> = journals
        .iter()
        .map(|journal| (journal.run.as_str(), journal))
        .collect();
    let mut found = Vec::new();
    for observed in observed {
        let mut report = |invariant, what: String| {
            found.push(Violation::of(
                invariant,
                format!("{}: {what}", observed.run),
            ));
        };
        for unexpected in &observed.unexpected {
            report(4, format!("unexpected response: {unexpected}"));
        }
        if observed.created > 1 {
            report(13, format!("it was created {} times", observed.created));
        }
        let Some(journal) = by_run.get(observed.run.as_str()) else {
            if observed.started {
                report(4, "it was acknowledged but does not exist".to_owned());
            }
            continue;
        };
        if journal.program().as_ref() != Some(&observed.program) {
            report(13, "it has a different input".to_owned());
        }
        check_tokens(journal, observed, &mut report);
        let expected_end = observed.program.outcome(&observed.run);
        for (end, _) in &observed.ends {
            if *end != expected_end {
                report(
                    26,
                    format!("a client saw {end:?} instead of {expected_end:?}"),
                );
            }
        }
    }
    for journal in journals {
        found.extend(check_end(journal));
        found.extend(check_children(journal, &by_run));
    }
    found
}

/// Checks that tokens arrived once, in order, and that no acknowledged token is missing.
fn check_tokens(journal: &Journal, observed: &Observed, report: &mut impl FnMut(u8, String)) {
    let entries = journal.stream.entries.iter();
    let arrived: Vec<u64> = entries
        .filter_map(|entry| match &entry.record.body {
            Body::Event(event) => event.payload.decode().ok(),
            _ => None,
        })
        .collect();
    let expected: Vec<u64> = (1..=arrived.len() as u64).collect();
    if arrived != expected {
        report(14, format!("tokens arrived as {arrived:?}"));
    }
    if (arrived.len() as u64) < observed.tokens {
        let tokens = observed.tokens;
        report(
            14,
            format!("{tokens} tokens were acknowledged, but {arrived:?} arrived"),
        );
    }
}

/// Checks that the recorded end is the one that the program determines.
fn check_end(journal: &Journal) -> Option<Violation> {
    let program: Program = journal.program()?;
    let expected_end = program.outcome(&journal.run);
    let end = match journal.stream.end() {
        None => None,
        Some(Body::Completed(completed)) => {
            let result = completed.result.decode().unwrap_or_default();
            Some(Outcome::Completed(result))
        }
        Some(Body::Failed(_)) => Some(Outcome::Failed),
        Some(other) => {
            let what = format!("{} ended with {other:?}", journal.run);
            return Some(Violation::of(26, what));
        }
    };
    match end {
        None => {
            let what = format!("{} never ends and is {:?}", journal.run, journal.status);
            Some(Violation::of(29, what))
        }
        Some(end) if end != expected_end => {
            let what = format!(
                "{} ended with {end:?} instead of {expected_end:?}",
                journal.run
            );
            Some(Violation::of(26, what))
        }
        Some(_) => None,
    }
}

/// Checks that every child that a finished run called has a journal.
fn check_children(journal: &Journal, by_run: &BTreeMap<&str, &Journal>) -> Vec<Violation> {
    let Some(program) = journal.program() else {
        return Vec::new();
    };
    let children = program.ops.iter().enumerate().filter_map(|(index, op)| {
        let location = crate::program::location("r", index);
        matches!(op, Op::Child(_)).then(|| crate::program::child_id(&journal.run, &location))
    });
    let missing = children.filter(|child| !by_run.contains_key(child.as_str()));
    missing
        .map(|child| Violation::of(17, format!("{child} was called but does not exist")))
        .collect()
}
