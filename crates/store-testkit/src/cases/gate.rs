//! The gate of a run decides what an inbox commit may do besides appending.

use everstep_model::RunStatus;
use everstep_store::{
    Claim, DeliverCommit, ExecutorLease, Gate, GateChange, InboxLease, Outcome, Store,
};

use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, OTHER, event, executor, inbox, run_creation, step};

const CLAIM: Claim = Claim {
    node: NODE,
    nonce: NONCE,
};

/// An event as the engine sends it: it marks the run as ready and claims it.
fn send(stream: everstep_model::StreamNumber) -> DeliverCommit {
    let mut commit = inbox(stream, vec![event("x")]);
    commit.ready = Some(true);
    commit.lease = InboxLease::Claim(CLAIM);
    commit
}

async fn gated<S: Store>(f: &Fixture<S>, gate: Gate) -> everstep_model::StreamNumber {
    let mut commit = run_creation("a", "order", RunStatus::Queued);
    commit.ready = true;
    commit.claim = Some(CLAIM);
    commit.gate = gate;
    match f.commit_one(commit).await {
        Outcome::Committed {
            stream,
            taken: None,
            ..
        } => stream,
        other => panic!("{other:?}"),
    }
}

fn claimed(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Committed { taken, .. } => taken.is_some(),
        other => panic!("{other:?}"),
    }
}

pub async fn a_held_run_accepts_only_records<S: Store>(f: &Fixture<S>) {
    let stream = gated(f, Gate::Held).await;
    assert!(f.ready().await.is_empty());
    assert!(!claimed(&f.commit_one(send(stream)).await));
    let head = f.head(stream).await;
    assert_eq!(
        (head.gate, head.ready, head.owner),
        (Gate::Held, false, None)
    );
    assert_eq!(head.run.unwrap().status, RunStatus::Queued);
    assert_eq!(f.numbers(stream).await, [0, 1]);
    assert!(f.ready().await.is_empty());
}

pub async fn a_commit_opens_the_gate_and_claims_the_run<S: Store>(f: &Fixture<S>) {
    let stream = gated(f, Gate::Held).await;
    let mut fire = send(stream);
    fire.gate = GateChange::Set(Gate::Open);
    let outcomes = f.commit(vec![send(stream), fire]).await;
    assert!(!claimed(&outcomes[0]));
    assert!(claimed(&outcomes[1]));
    let head = f.head(stream).await;
    assert_eq!((head.gate, head.ready), (Gate::Open, true));
    assert_eq!(head.run.unwrap().status, RunStatus::Running);
    assert_eq!(f.ready().await.len(), 1);
}

/// The commit that takes the slot claims the run.
pub async fn a_run_that_needs_a_slot_is_marked_and_not_claimed<S: Store>(f: &Fixture<S>) {
    let stream = gated(f, Gate::NeedsSlot).await;
    assert_eq!(f.ready().await.len(), 1);
    assert!(!claimed(&f.commit_one(send(stream)).await));
    let head = f.head(stream).await;
    assert_eq!(
        (head.gate, head.ready, head.owner),
        (Gate::NeedsSlot, true, None)
    );
    // No slot is free: the mark is cleared, and the run is held until it is admitted.
    let mut wait = inbox(stream, vec![]);
    wait.gate = GateChange::Set(Gate::Held);
    wait.ready = Some(false);
    f.accept(wait).await;
    assert!(f.ready().await.is_empty());
    let mut admit = send(stream);
    admit.gate = GateChange::Set(Gate::Open);
    assert!(claimed(&f.commit_one(admit).await));
}

/// An executor that suspends its run can require a slot for the next claim.
pub async fn an_executor_sets_the_gate<S: Store>(f: &Fixture<S>) {
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Queued))
        .await;
    let fence = f.take(stream, NODE, NONCE).await;
    let mut rest = executor(stream, fence, 1, 1, vec![step("s")]);
    rest.lease = ExecutorLease::Release;
    rest.ready = Some(false);
    rest.status = Some(RunStatus::Sleeping);
    rest.gate = Some(Gate::NeedsSlot);
    f.accept(rest).await;
    assert_eq!(f.head(stream).await.gate, Gate::NeedsSlot);
    assert!(!claimed(&f.commit_one(send(stream)).await));
    assert_eq!(f.ready().await.len(), 1);
}

/// A request to cancel opens the gate only of a run that has not begun.
pub async fn a_run_that_has_begun_keeps_its_gate<S: Store>(f: &Fixture<S>) {
    let stream = gated(f, Gate::Held).await;
    let mut cancel = send(stream);
    cancel.gate = GateChange::OpenUnlessBegun;
    let Outcome::Committed {
        taken: Some(fence), ..
    } = f.commit_one(cancel.clone()).await
    else {
        panic!("not claimed");
    };
    assert_eq!(f.head(stream).await.gate, Gate::Open);
    let mut rest = executor(stream, fence, 1, 2, vec![step("s")]);
    rest.lease = ExecutorLease::Release;
    rest.ready = Some(false);
    rest.gate = Some(Gate::Held);
    f.accept(rest).await;
    cancel.lease = InboxLease::Claim(Claim {
        node: OTHER,
        nonce: NONCE,
    });
    assert!(!claimed(&f.commit_one(cancel).await));
    let head = f.head(stream).await;
    assert_eq!((head.gate, head.ready), (Gate::Held, false));
}

/// A revocation raises the epoch although the run has not been executed.
pub async fn a_revoked_run_that_has_not_begun_is_opened<S: Store>(f: &Fixture<S>) {
    let stream = gated(f, Gate::Held).await;
    let mut revoke = inbox(stream, vec![]);
    revoke.lease = InboxLease::Revoke;
    f.accept(revoke).await;
    let mut cancel = send(stream);
    cancel.gate = GateChange::OpenUnlessBegun;
    assert!(claimed(&f.commit_one(cancel).await));
    assert_eq!(f.head(stream).await.gate, Gate::Open);
}

/// Revoking the right and closing the stream do not depend on the gate.
pub async fn a_held_run_can_be_terminated<S: Store>(f: &Fixture<S>) {
    let stream = gated(f, Gate::Held).await;
    let mut end = inbox(stream, vec![event("end")]);
    end.lease = InboxLease::Revoke;
    end.ready = Some(false);
    end.status = Some(RunStatus::Terminated);
    end.close = true;
    f.accept(end).await;
    let head = f.head(stream).await;
    assert!(head.closed && head.epoch.0 == 1);
    assert_eq!(head.run.unwrap().status, RunStatus::Terminated);
}
