//! The judgement of a change of rows.

use super::guards::{judge_guards, judge_guards_without_stream};
use super::verdict::{JudgeContext, Verdict};
use crate::commit::RowsCommit;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a change of rows against the head of the stream, which stays as it is. `None` means that
/// the change applies.
///
/// If the stream does not exist, only deletions apply, and guards on the stream refuse them.
pub fn judge_rows(
    head: Option<&Head>,
    commit: &RowsCommit,
    context: &impl JudgeContext,
) -> Option<Refusal> {
    let only_deletes = commit.only_deletes();
    let Some(head) = head else {
        return match only_deletes {
            true => judge_guards_without_stream(&commit.guards, context),
            false => Some(Refusal::NoStream),
        };
    };
    let is_user_stream = head.name.user_path().is_some();
    if head.closed && !only_deletes && !is_user_stream {
        return Some(Refusal::Closed);
    }
    match judge_guards(head, &commit.guards, head.next, context)? {
        Verdict::Refuse(refusal) => Some(refusal),
        // The author is no executor, so there is nothing that it has missed.
        Verdict::InboxGrew { .. } => Some(Refusal::InboxGrew { missed: Vec::new() }),
        Verdict::Apply { .. } | Verdict::Duplicate { .. } => None,
    }
}
