//! Sends events to runs.

use std::sync::Arc;

use everstep_model::planted::{self, Bug};
use everstep_model::record::Event;
use everstep_model::{Generation, Name, Payload, Record, RecordNumber, RunId, limits};
use everstep_store::{
    Commit, DeliverCommit, Guard, Head, InboxLease, Outcome, Refusal, RunRow, StoreError,
};

use crate::core::Core;
use crate::effects::Effects;
use crate::error::{RunFinished, SendError, TooManyEvents, readable};
use crate::start::check_key;

/// An event to send.
#[derive(Clone, Debug)]
pub struct SendEvent {
    /// The recipient.
    pub run: RunId,
    /// The name of the event.
    pub name: Name,
    /// The payload.
    pub payload: Payload,
    /// The sender's id of the event. The run receives each id once.
    pub dedup_id: Option<String>,
    /// The sender, for the journal.
    pub by: Option<String>,
    /// The generation of the run that it is for. `None` means the current one.
    pub generation: Option<Generation>,
}

/// The outcome of sending an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The event is in the run's journal, at this record.
    Accepted(RecordNumber),
    /// An event with the same dedup id is already in the journal, at this record.
    Duplicate(RecordNumber),
}

impl Core {
    pub(crate) async fn send(self: &Arc<Self>, event: SendEvent) -> Result<Sent, SendError> {
        self.send_from(event, None).await.map(|(sent, _)| sent)
    }

    /// Sends an event whose sender may wait for a reply under an id. Also returns the head of the
    /// generation that received it.
    pub(crate) async fn send_from(
        self: &Arc<Self>,
        event: SendEvent,
        reply_to: Option<&str>,
    ) -> Result<(Sent, Head), SendError> {
        self.check_open()?;
        event.payload.check_size()?;
        check_key("dedup id", event.dedup_id.as_deref())?;
        let (mut head, row) = self
            .find_meant::<SendError>(&event.run, event.generation)
            .await?;
        self.check_event(&row, &event.name, &event.payload)?;
        let mut outcome = self.send_to(&head, &event, reply_to).await?;
        if matches!(outcome, Outcome::Refused(Refusal::Closed)) {
            // The run may have been revived concurrently.
            let (latest, _) = self
                .find_meant::<SendError>(&event.run, event.generation)
                .await?;
            if latest.number != head.number {
                outcome = self.send_to(&latest, &event, reply_to).await?;
                head = latest;
            }
        }
        match outcome {
            Outcome::Committed { first, .. } => Ok((Sent::Accepted(first), head)),
            Outcome::Duplicate { first, .. } => Ok((Sent::Duplicate(first), head)),
            Outcome::Refused(Refusal::TooManyEvents(count)) => Err(TooManyEvents {
                run: event.run,
                count,
            }
            .into()),
            Outcome::Refused(_) => Err(self.finished(event.run).await),
        }
    }

    async fn send_to(
        self: &Arc<Self>,
        head: &Head,
        event: &SendEvent,
        reply_to: Option<&str>,
    ) -> Result<Outcome, StoreError> {
        let mut commit = self.inbox_commit(head);
        commit
            .guards
            .push(Guard::UnconsumedEventsBelow(limits::UNCONSUMED_EVENTS_MAX));
        commit.dedup = event.dedup_id.clone();
        commit.records.push(Record {
            time: commit.now,
            body: Event {
                name: event.name.clone(),
                payload: event.payload.clone(),
                dedup_id: event.dedup_id.clone(),
                reply_to: reply_to.map(str::to_owned),
                by: event.by.clone(),
            }
            .into(),
        });
        self.deliver(&event.run, head, commit).await
    }

    /// A commit to a run's inbox that also claims the run if this node can execute it.
    pub(crate) fn inbox_commit(&self, head: &Head) -> DeliverCommit {
        let mut commit = DeliverCommit::new(head.number, self.runtime.now());
        if planted::is(Bug::EventLostAtSuspension) && head.owner.is_some() {
            return commit;
        }
        commit.ready = Some(true);
        let takes = |row: &RunRow| self.takes(head.number, row);
        if head.run.as_deref().is_some_and(takes) && !self.is_closing() {
            commit.lease = InboxLease::Claim(self.take());
        }
        commit
    }

    /// Commits to a run's inbox and wakes its executor.
    pub(crate) async fn deliver(
        self: &Arc<Self>,
        run: &RunId,
        head: &Head,
        commit: DeliverCommit,
    ) -> Result<Outcome, StoreError> {
        let commit = Commit::from(commit);
        let effects = Effects::of(run, &commit, Vec::new());
        let outcome = readable(self.committer.commit(commit).await?)?;
        if let Outcome::Committed { taken, .. } = &outcome {
            self.committed(head.number, effects);
            self.woken(head.number, *taken);
        }
        Ok(outcome)
    }

    /// The error of a run that is closed.
    pub(crate) async fn finished(&self, run: RunId) -> SendError {
        match self.find(&run).await {
            Ok((_, row)) => RunFinished {
                run,
                status: row.status,
            }
            .into(),
            Err(error) => error.into(),
        }
    }
}
