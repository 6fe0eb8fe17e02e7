//! The judgement of a removal.

use super::guards::judge_row_guard;
use super::verdict::JudgeContext;
use crate::commit::RemoveCommit;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a removal against the heads of its streams, in the order in which it names them.
pub fn judge_removal(
    heads: &[Option<&Head>],
    commit: &RemoveCommit,
    context: &impl JudgeContext,
) -> Result<(), Refusal> {
    for head in heads {
        let head = head.ok_or(Refusal::NoStream)?;
        if !head.closed && head.name.user_path().is_none() {
            return Err(Refusal::Open);
        }
    }
    let mut guards = commit.guards.iter();
    guards.try_for_each(|guard| judge_row_guard(guard, context))?;
    match heads {
        [Some(latest), ..] if latest.superseded => Err(Refusal::Superseded),
        [] => Err(Refusal::NoStream),
        _ => Ok(()),
    }
}
