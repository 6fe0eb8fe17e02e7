//! Where a journal rolls back, and the first record of what it undoes.

use std::collections::BTreeSet;

use everstep_model::{Body, Entry};

use crate::undo::Subject;

/// Returns the index at which the rollback begins that ended the run: after the last scripted
/// record.
pub(super) fn rollback_begins(journal: &[Entry]) -> usize {
    let is_undo = |entry: &Entry| Subject::of(&entry.record.body).is_some();
    let is_scripted = |entry: &Entry| entry.record.body.is_scripted();
    let from = journal
        .iter()
        .rposition(is_scripted)
        .map_or(0, |last| last + 1);
    let undo = journal.iter().skip(from).position(is_undo);
    undo.map_or(journal.len(), |undo| from + undo)
}

/// Returns the index of the first record of anything that was undone from `from` on.
pub(super) fn first_undone(journal: &[Entry], from: usize) -> Option<usize> {
    let undone = journal.iter().skip(from).map(|entry| &entry.record.body);
    let undone = undone.filter(|body| matches!(body, Body::UndoCompleted(_)));
    first_about(journal, &undone.filter_map(Subject::of).collect())
}

/// Returns the index of the first record of anything whose undo the code waited for from `from` on.
/// A copy that ended before that undo would not make the code wait.
pub(super) fn first_awaited(journal: &[Entry], from: usize) -> Option<usize> {
    let end = rollback_begins(journal);
    let awaited = journal.iter().take(end).skip(from);
    let awaited = awaited.filter_map(|entry| Subject::of(&entry.record.body));
    first_about(journal, &awaited.collect())
}

fn first_about(journal: &[Entry], subjects: &BTreeSet<Subject>) -> Option<usize> {
    let is_about = |body: &Body| match body {
        // Several children may share a location; only the one that was undone counts.
        Body::ChildStarted(record) => {
            subjects.contains(&Subject::child(&record.location, &record.run))
                || subjects.contains(&Subject::step(&record.location))
        }
        body => body
            .location()
            .is_some_and(|location| subjects.contains(&Subject::step(location))),
    };
    journal
        .iter()
        .position(|entry| is_about(&entry.record.body))
}
