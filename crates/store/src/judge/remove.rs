//! The judgement of a removal.

use super::guards::judge_row_guard;
use super::verdict::JudgeContext;
use crate::commit::RemoveCommit;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a removal against the heads of its streams, in the order in which it names them.
#[must_use]
pub fn judge_removal(
    heads: &[Option<&Head>],
    commit: &RemoveCommit,
    context: &impl JudgeContext,
) -> Option<Refusal> {
    for head in heads {
        match head {
            None => return Some(Refusal::NoStream),
            Some(head) if !head.closed && head.name.user_path().is_none() => {
                return Some(Refusal::Open);
            }
            Some(_) => {}
        }
    }
    let mut guards = commit.guards.iter();
    if let Some(refusal) = guards.find_map(|guard| judge_row_guard(guard, context)) {
        return Some(refusal);
    }
    match heads.first() {
        None => Some(Refusal::NoStream),
        Some(latest) => latest
            .is_some_and(|latest| latest.superseded)
            .then_some(Refusal::Superseded),
    }
}
