//! The judgement of a creation.

use super::guards::judge_guards;
use super::lease::claim;
use super::status::change_status;
use super::verdict::{JudgeContext, Verdict};
use crate::commit::{CreateCommit, Gate};
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a creation. `new` is the head of the new stream, whose name the backend has found to be
/// free.
pub fn judge_create(mut new: Head, commit: &CreateCommit, context: &impl JudgeContext) -> Verdict {
    new.next = commit.begins_at;
    if let Some(verdict) = judge_guards(&new, &commit.guards, new.next, context) {
        return verdict;
    }
    let first = new.next;
    new.next = first.plus(commit.records.len());
    new.frame = new.frame.after(&commit.records);
    new.run.clone_from(&commit.run);
    new.gate = commit.gate;
    new.ready = commit.ready && commit.gate != Gate::Held;
    new.closed = commit.close;
    let claimed = commit.claim.filter(|_| commit.gate == Gate::Open);
    let taken = claimed.and_then(|by| claim(&mut new, by, context));
    change_status(&mut new, None, taken.is_some(), commit.now);
    Verdict::Apply {
        head: Box::new(new),
        first,
        taken,
    }
}

/// Judges whether a new stream may replace this one in the lists.
#[must_use]
pub fn judge_superseded(old: Option<&Head>) -> Option<Refusal> {
    match old {
        None => Some(Refusal::NoStream),
        Some(old) if !old.closed => Some(Refusal::Open),
        Some(old) => old.superseded.then_some(Refusal::Superseded),
    }
}
