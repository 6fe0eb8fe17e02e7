//! The judgement of an executor's commit.

use everstep_model::ExecutorSeq;

use super::guards::judge_guards;
use super::lease::change_own;
use super::status::change_status;
use super::verdict::{JudgeContext, Verdict};
use crate::commit::{AppendCommit, Executor};
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges an executor's commit against the head of its stream.
pub fn judge_append(head: &Head, commit: &AppendCommit, context: &impl JudgeContext) -> Verdict {
    if let Some(verdict) = judge_fence(head, &commit.executor) {
        return verdict;
    }
    if head.closed {
        return Verdict::Refuse(Refusal::Closed);
    }
    if let Some(verdict) = judge_guards(head, &commit.guards, commit.executor.seen, context) {
        return verdict;
    }
    let first = head.next;
    let mut after = head.clone();
    append(&mut after, commit);
    change_own(&mut after, head, commit.lease);
    change_status(&mut after, commit.status, false, commit.now);
    if let Some(ready) = commit.ready {
        after.ready = ready;
    }
    after.gate = commit.gate.unwrap_or(head.gate);
    after.closed = commit.close;
    Verdict::Apply {
        head: Box::new(after),
        first,
        taken: None,
    }
}

fn judge_fence(head: &Head, executor: &Executor) -> Option<Verdict> {
    let Executor { fence, seq, .. } = *executor;
    let last = match head.frame.epoch == fence.epoch {
        true => head.frame.seq,
        false => ExecutorSeq(0),
    };
    // The last commit may itself have released or closed the run. A repetition is then recognised
    // by the journal alone.
    let repeats = seq == last && seq != ExecutorSeq(0);
    if repeats
        && (head.fence() == Some(fence) || (head.owner.is_none() && head.epoch == fence.epoch))
    {
        return Some(Verdict::Duplicate {
            first: head.frame.executor_at,
        });
    }
    if head.fence() != Some(fence) {
        return Some(Verdict::Refuse(Refusal::Fenced));
    }
    (seq != last.next()).then_some(Verdict::Refuse(Refusal::OutOfOrder))
}

fn append(after: &mut Head, commit: &AppendCommit) {
    let first = after.next;
    let executor = &commit.executor;
    after.next = first.plus(commit.records.len());
    after.frame = after.frame.after(&commit.records);
    after.frame.epoch = executor.fence.epoch;
    after.frame.seq = executor.seq;
    after.frame.executor_at = first;
    if executor.progress {
        after.frame.progress_epoch = executor.fence.epoch;
    }
}
