//! The judgement of a delivery.

use everstep_model::{Epoch, Origin};

use super::guards::judge_guards;
use super::lease::change_from_inbox;
use super::status::change_status;
use super::verdict::{JudgeContext, Verdict};
use crate::commit::{DeliverCommit, Gate, GateChange};
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a delivery against the head of its stream.
pub fn judge_deliver(head: &Head, commit: &DeliverCommit, context: &impl JudgeContext) -> Verdict {
    if let Some(first) = commit.dedup.as_deref().and_then(|id| context.dedup(id)) {
        return Verdict::Duplicate { first };
    }
    let mut records = commit.records.iter();
    if records.any(|record| record.body.origin() != Origin::Inbox) {
        return Verdict::Refuse(Refusal::NotInbox);
    }
    if head.closed {
        return Verdict::Refuse(Refusal::Closed);
    }
    if let Some(verdict) = judge_guards(head, &commit.guards, head.next, context) {
        return verdict;
    }
    let first = head.next;
    let mut after = head.clone();
    after.next = first.plus(commit.records.len());
    after.frame = after.frame.after(&commit.records);
    after.gate = gate_after(head, commit.gate);
    let taken = change_from_inbox(&mut after, commit.lease, context);
    change_status(&mut after, commit.status, taken.is_some(), commit.now);
    after.ready = match commit.ready {
        Some(true) if after.gate == Gate::Held => head.ready,
        Some(ready) => ready,
        None => head.ready,
    };
    after.closed = commit.close;
    Verdict::Apply {
        head: Box::new(after),
        first,
        taken,
    }
}

fn gate_after(head: &Head, change: GateChange) -> Gate {
    match change {
        GateChange::Keep => head.gate,
        GateChange::Set(gate) => gate,
        GateChange::OpenUnlessBegun if has_begun(head) => head.gate,
        GateChange::OpenUnlessBegun => Gate::Open,
    }
}

/// The epoch does not decide, because a revocation raises it too.
fn has_begun(head: &Head) -> bool {
    head.owner.is_some() || head.frame.epoch != Epoch(0)
}
