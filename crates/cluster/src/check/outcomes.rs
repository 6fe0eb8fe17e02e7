//! Invariants 4, 13, 14, 16, 26 and 29: what was acknowledged is there, once, and came to the end that the program has.

use std::collections::BTreeMap;

use everstep_model::Body;
use everstep_sim::Violation;

use super::reading::Journal;
use crate::clients::Told;
use crate::program::{Op, Outcome, Program};

pub(super) fn check(journals: &[Journal], told: &[Told]) -> Vec<Violation> {
    let by_run: BTreeMap<&str, &Journal> = journals
        .iter()
        .map(|journal| (journal.run.as_str(), journal))
        .collect();
    let mut found = Vec::new();
    for told in told {
        let mut say = |invariant, what: String| {
            found.push(Violation::of(invariant, format!("{}: {what}", told.run)));
        };
        for strange in &told.strange {
            say(4, format!("a client was told: {strange}"));
        }
        if told.created > 1 {
            say(13, format!("it was created {} times", told.created));
        }
        let Some(journal) = by_run.get(told.run.as_str()) else {
            if told.started {
                say(4, "it was acknowledged and is not there".to_owned());
            }
            continue;
        };
        if journal.program().as_ref() != Some(&told.program) {
            say(13, "it was given something else to do".to_owned());
        }
        check_tokens(journal, told, &mut say);
        let right = told.program.outcome(&told.run);
        for (end, _) in &told.ends {
            if *end != right {
                say(
                    26,
                    format!("a client heard of {end:?}, and right is {right:?}"),
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

/// Tokens came once each, in order, and none that was acknowledged is missing.
fn check_tokens(journal: &Journal, told: &Told, say: &mut impl FnMut(u8, String)) {
    let entries = journal.stream.entries.iter();
    let came: Vec<u64> = entries
        .filter_map(|entry| match &entry.record.body {
            Body::Event(event) => event.payload.decode().ok(),
            _ => None,
        })
        .collect();
    let expected: Vec<u64> = (1..=came.len() as u64).collect();
    if came != expected {
        say(14, format!("tokens came as {came:?}"));
    }
    if (came.len() as u64) < told.tokens {
        let tokens = told.tokens;
        say(
            14,
            format!("{tokens} tokens were acknowledged, {came:?} came"),
        );
    }
}

/// The end that is recorded is the one that the program has.
fn check_end(journal: &Journal) -> Option<Violation> {
    let program: Program = journal.program()?;
    let right = program.outcome(&journal.run);
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
            let what = format!("{} is {:?} for ever", journal.run, journal.status);
            Some(Violation::of(29, what))
        }
        Some(end) if end != right => {
            let what = format!("{} ended with {end:?}, and right is {right:?}", journal.run);
            Some(Violation::of(26, what))
        }
        Some(_) => None,
    }
}

/// Every child that a finished run called has a journal of its own.
fn check_children(journal: &Journal, by_run: &BTreeMap<&str, &Journal>) -> Vec<Violation> {
    let Some(program) = journal.program() else {
        return Vec::new();
    };
    let children = program.ops.iter().enumerate().filter_map(|(index, op)| {
        let place = crate::program::place("r", index);
        matches!(op, Op::Child(_)).then(|| crate::program::child_id(&journal.run, &place))
    });
    let missing = children.filter(|child| !by_run.contains_key(child.as_str()));
    missing
        .map(|child| Violation::of(17, format!("{child} was called and is not there")))
        .collect()
}
