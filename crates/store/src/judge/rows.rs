//! The judgement of a change of rows.

use super::guards::judge_guards;
use super::verdict::{Liveness, Verdict};
use crate::commit::RowsCommit;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a change of rows against the head of the stream, which stays as it is. `None` means that
/// the change applies.
///
/// If the stream does not exist, only deletions apply.
pub fn judge_rows(
    head: Option<&Head>,
    commit: &RowsCommit,
    world: &impl Liveness,
) -> Option<Refusal> {
    let only_deletes = commit.only_deletes();
    let Some(head) = head else {
        return (!only_deletes).then_some(Refusal::NoStream);
    };
    let is_user_stream = head.name.user_path().is_some();
    if head.closed && !only_deletes && !is_user_stream {
        return Some(Refusal::Closed);
    }
    match judge_guards(head, &commit.guards, head.next, world)? {
        Verdict::Refuse(refusal) => Some(refusal),
        // The author is no executor, so there is nothing that it has missed.
        Verdict::InboxGrew { .. } => Some(Refusal::InboxGrew { missed: Vec::new() }),
        Verdict::Apply { .. } | Verdict::Duplicate { .. } => None,
    }
}
