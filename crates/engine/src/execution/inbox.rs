//! Deliveries to the inbox of a run: events, answers, ends of children and control requests. The
//! commit also claims the run if this node can execute it.

use std::sync::Arc;

use everstep_model::planted::{self, Bug};
use everstep_model::{Body, Record, RunId, StreamNumber};
use everstep_store::{Commit, DeliverCommit, Fence, Head, InboxLease, Outcome, StoreError};

use super::dispatch::Dispatcher;
use crate::commit::PostCommit;
use crate::error::readable;

impl Dispatcher {
    /// Returns a commit of one record to the inbox of a run.
    pub(crate) fn inbox_commit(&self, head: &Head, body: impl Into<Body>) -> DeliverCommit {
        let (time, body) = (self.parts.node.now(), body.into());
        let mut commit = DeliverCommit::new(head.number, time);
        commit.records.push(Record { time, body });
        if planted::is(Bug::EventLostAtSuspension) && head.owner.is_some() {
            return commit;
        }
        commit.ready = Some(true);
        if let Some(run) = &head.run
            && let Some(claim) = self.parts.claim_for_delivery(head.number, run)
        {
            commit.lease = InboxLease::Claim(claim);
        }
        commit
    }

    /// Commits to the inbox of a run and wakes its executor.
    pub(crate) async fn deliver(
        self: &Arc<Self>,
        run: &RunId,
        commit: DeliverCommit,
    ) -> Result<Outcome, StoreError> {
        let stream = commit.stream;
        let commit = Commit::from(commit);
        let effects = PostCommit::of_run(run, &commit, Vec::new());
        let outcome = readable(self.parts.committer.commit(commit).await?)?;
        if let Outcome::Committed { taken, .. } = &outcome {
            self.landed(stream, effects, *taken);
        }
        Ok(outcome)
    }

    /// Applies the effects of a durable commit to an inbox and wakes the run.
    pub(crate) fn landed(
        self: &Arc<Self>,
        stream: StreamNumber,
        effects: PostCommit,
        claim: Option<Fence>,
    ) {
        self.parts.post_commit.apply(stream, effects);
        self.wake(stream, claim);
    }
}
