//! The judgement of a delivery.

use everstep_model::{Epoch, Origin};

use super::guards::judge_guards;
use super::lease::change_from_inbox;
use super::status::change_status_by_delivery;
use super::verdict::{JudgeContext, Verdict, append};
use crate::commit::{DeliverCommit, Gate, GateChange};
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges a delivery against the head of its stream.
pub fn judge_deliver(
    head: &Head,
    commit: &DeliverCommit,
    context: &impl JudgeContext,
) -> Result<Verdict, Refusal> {
    if let Some(first) = commit.dedup.as_deref().and_then(|id| context.dedup(id)) {
        return Ok(Verdict::Duplicate { first });
    }
    let mut records = commit.records.iter();
    if records.any(|record| record.body.origin() != Origin::Inbox) {
        return Err(Refusal::NotInbox);
    }
    if head.closed {
        return Err(Refusal::Closed);
    }
    judge_guards(Some(head), &commit.guards, context)?;
    let mut after = head.clone();
    let first = append(&mut after, &commit.records);
    after.gate = gate_after(head, commit.gate);
    let taken = change_from_inbox(&mut after, commit.lease, context);
    let ready = match commit.ready {
        Some(true) if after.gate == Gate::Held => None,
        ready => ready,
    };
    let woken = ready == Some(true);
    change_status_by_delivery(&mut after, commit, taken.is_some(), woken);
    after.ready = ready.unwrap_or(head.ready);
    after.closed = commit.close;
    Ok(Verdict::Apply {
        head: Box::new(after),
        first,
        taken,
    })
}

fn gate_after(head: &Head, change: GateChange) -> Gate {
    match change {
        GateChange::Keep => head.gate,
        GateChange::Set(gate) => gate,
        GateChange::OpenUnlessBegun if has_begun(head) => head.gate,
        GateChange::OpenUnlessBegun => Gate::Open,
    }
}

/// Ignores the epoch of the head, because a revocation raises it too.
fn has_begun(head: &Head) -> bool {
    head.owner.is_some() || head.frame.epoch != Epoch(0)
}
