//! Deliveries to the inbox of a run: events, answers, ends of children and control requests. The
//! commit also claims the run if this node can execute it.

use std::sync::Arc;

use everstep_model::planted::{self, Bug};
use everstep_model::{RunId, StreamNumber};
use everstep_store::{Commit, DeliverCommit, Fence, Head, InboxLease, Outcome, StoreError};

use super::claims::Claims;
use super::dispatch::Dispatcher;
use crate::commit::{Committer, PostCommit, PostCommitSink};
use crate::error::readable;
use crate::node::Node;

pub(crate) struct Inbox {
    pub(crate) node: Arc<Node>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) post_commit: Arc<PostCommitSink>,
    pub(crate) claims: Arc<Claims>,
    pub(crate) dispatcher: Arc<Dispatcher>,
}

impl Inbox {
    /// A commit to the inbox of a run, without records.
    pub(crate) fn commit(&self, head: &Head) -> DeliverCommit {
        let mut commit = DeliverCommit::new(head.number, self.node.now());
        if planted::is(Bug::EventLostAtSuspension) && head.owner.is_some() {
            return commit;
        }
        commit.ready = Some(true);
        let run = head.run.as_deref();
        if let Some(claim) = run.and_then(|run| self.claims.for_delivery(head.number, run)) {
            commit.lease = InboxLease::Claim(claim);
        }
        commit
    }

    /// Commits to the inbox of a run and wakes its executor.
    pub(crate) async fn deliver(
        &self,
        run: &RunId,
        commit: DeliverCommit,
    ) -> Result<Outcome, StoreError> {
        let stream = commit.stream;
        let commit = Commit::from(commit);
        let effects = PostCommit::of_run(run, &commit, Vec::new());
        let outcome = readable(self.committer.commit(commit).await?)?;
        if let Outcome::Committed { taken, .. } = &outcome {
            self.landed(stream, effects, *taken);
        }
        Ok(outcome)
    }

    /// Applies the effects of a durable commit to an inbox and wakes the run.
    pub(crate) fn landed(&self, stream: StreamNumber, effects: PostCommit, claim: Option<Fence>) {
        self.post_commit.apply(stream, effects);
        self.dispatcher.wake(stream, claim);
    }
}
