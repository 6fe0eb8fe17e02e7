//! The judgement of a creation.

use super::guards::judge_guards;
use super::lease::claim;
use super::status::change_status;
use super::verdict::{JudgeContext, Verdict, append};
use crate::commit::{CreateCommit, Gate};
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a creation. `new` is the head of the new stream, whose name the backend has found to be
/// free.
pub fn judge_create(
    mut new: Head,
    commit: &CreateCommit,
    context: &impl JudgeContext,
) -> Result<Verdict, Refusal> {
    new.next = commit.begins_at;
    judge_guards(Some(&new), &commit.guards, context)?;
    let first = append(&mut new, &commit.records);
    new.run.clone_from(&commit.run);
    new.gate = commit.gate;
    new.ready = commit.ready && commit.gate != Gate::Held;
    new.closed = commit.close;
    let claimed = commit.claim.filter(|_| commit.gate == Gate::Open);
    let taken = claimed.and_then(|by| claim(&mut new, by, context));
    change_status(&mut new, None, taken.is_some(), commit.now);
    Ok(Verdict::Apply {
        head: Box::new(new),
        first,
        taken,
    })
}

/// Judges whether a new stream may replace this one in the lists.
pub fn judge_superseded(old: Option<&Head>) -> Result<(), Refusal> {
    match old {
        None => Err(Refusal::NoStream),
        Some(old) if !old.closed => Err(Refusal::Open),
        Some(old) if old.superseded => Err(Refusal::Superseded),
        Some(_) => Ok(()),
    }
}
