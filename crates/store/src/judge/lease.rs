//! Changes of the right to execute a run.

use super::verdict::JudgeContext;
use crate::commit::{Claim, ExecutorLease, Fence, Gate, InboxLease};
use crate::head::{Head, Owner};

/// The number of takeovers up to which a node counts although it wrote nothing for the run.
pub const UNPROVEN_MAX: u32 = 2;

/// Applies an executor's change of its own right. `before` is the head before the commit.
pub(super) fn change_own(after: &mut Head, before: &Head, change: ExecutorLease) {
    match change {
        ExecutorLease::Keep => {}
        ExecutorLease::Release => {
            after.owner = None;
            after.takeovers = 0;
        }
        ExecutorLease::Abandon => {
            after.takeovers = takeovers(before);
            after.owner = None;
        }
        ExecutorLease::Revoke => revoke(after),
    }
}

/// Applies an inbox commit's change of the right to execute. Returns the fence if it claimed the
/// run.
pub(super) fn change_from_inbox(
    after: &mut Head,
    change: InboxLease,
    context: &impl JudgeContext,
) -> Option<Fence> {
    match change {
        InboxLease::Claim(by) if after.gate == Gate::Open => claim(after, by, context),
        InboxLease::Claim(_) | InboxLease::Keep => None,
        InboxLease::Revoke => {
            revoke(after);
            None
        }
    }
}

/// Claims a run if no live node holds it.
pub(super) fn claim(head: &mut Head, by: Claim, context: &impl JudgeContext) -> Option<Fence> {
    let owner = Owner {
        node: by.node,
        nonce: by.nonce,
    };
    // A claim that is sent again, because its outcome was lost, gets the same answer.
    if head.owner == Some(owner) {
        return head.fence();
    }
    if head.owner.is_some_and(|owner| context.is_alive(owner.node)) {
        return None;
    }
    head.takeovers = takeovers(head);
    head.epoch = head.epoch.next();
    head.owner = Some(owner);
    head.fence()
}

fn revoke(head: &mut Head) {
    head.takeovers = 0;
    head.owner = None;
    head.epoch = head.epoch.next();
}

/// Counts takeovers from nodes that failed while they executed the run, without progress. Of nodes
/// that failed before they wrote anything for the run, only the first [`UNPROVEN_MAX`] count,
/// because other runs may have caused the failures. From that count on, the engine commits before
/// it executes the run, so further failures count.
fn takeovers(before: &Head) -> u32 {
    let progressed = before.frame.progress_epoch == before.epoch;
    let acted = before.frame.epoch == before.epoch;
    match before.owner {
        // A release has reset the count, and an abandonment has increased it.
        None => before.takeovers,
        Some(_) if progressed => 1,
        Some(_) if acted || before.takeovers < UNPROVEN_MAX => before.takeovers + 1,
        Some(_) => before.takeovers,
    }
}
