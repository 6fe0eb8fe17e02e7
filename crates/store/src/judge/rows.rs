//! The judgement of a change of rows.

use super::guards::judge_guards;
use super::verdict::JudgeContext;
use crate::commit::RowsCommit;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a change of rows against the head of the stream, which stays as it is.
///
/// If the stream does not exist, only deletions apply, and guards on the stream refuse them.
pub fn judge_rows(
    head: Option<&Head>,
    commit: &RowsCommit,
    context: &impl JudgeContext,
) -> Result<(), Refusal> {
    match head {
        _ if commit.only_deletes() => {}
        None => return Err(Refusal::NoStream),
        Some(head) if head.closed && head.name.user_path().is_none() => {
            return Err(Refusal::Closed);
        }
        Some(_) => {}
    }
    judge_guards(head, &commit.guards, context)
}
