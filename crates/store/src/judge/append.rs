//! The judgement of an executor's commit.

use everstep_model::{ExecutorSeq, RecordNumber};

use super::guards::judge_guards;
use super::lease::change_own;
use super::status::change_status;
use super::verdict::{JudgeContext, Verdict, append};
use crate::commit::{AppendCommit, Executor};
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges an executor's commit against the head of its stream.
pub fn judge_append(
    head: &Head,
    commit: &AppendCommit,
    context: &impl JudgeContext,
) -> Result<Verdict, Refusal> {
    let executor = &commit.executor;
    if let Some(first) = judge_fence(head, executor)? {
        return Ok(Verdict::Duplicate { first });
    }
    if head.closed {
        return Err(Refusal::Closed);
    }
    judge_guards(Some(head), &commit.guards, context)?;
    let mut after = head.clone();
    let first = append(&mut after, &commit.records);
    after.frame.epoch = executor.fence.epoch;
    after.frame.seq = executor.seq;
    after.frame.executor_at = first;
    if executor.progress {
        after.frame.progress_epoch = executor.fence.epoch;
    }
    change_own(&mut after, head, commit.lease);
    change_status(&mut after, commit.status, false, commit.now);
    after.ready = commit.ready.unwrap_or(head.ready);
    after.gate = commit.gate.unwrap_or(head.gate);
    after.closed = commit.close;
    Ok(Verdict::Apply {
        head: Box::new(after),
        first,
        taken: None,
    })
}

/// Returns the first record of the original if the commit is a repetition.
fn judge_fence(head: &Head, executor: &Executor) -> Result<Option<RecordNumber>, Refusal> {
    let Executor { fence, seq, .. } = *executor;
    let last = match head.frame.epoch == fence.epoch {
        true => head.frame.seq,
        false => ExecutorSeq(0),
    };
    let holds = head.fence() == Some(fence);
    // The last commit may itself have released or closed the run. A repetition is then recognised
    // by the journal alone.
    let held_last = head.owner.is_none() && head.epoch == fence.epoch;
    if seq == last && seq != ExecutorSeq(0) && (holds || held_last) {
        return Ok(Some(head.frame.executor_at));
    }
    if !holds {
        return Err(Refusal::Fenced);
    }
    match seq == last.next() {
        true => Ok(None),
        false => Err(Refusal::OutOfOrder),
    }
}
