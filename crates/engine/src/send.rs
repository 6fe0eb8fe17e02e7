//! Sending events to runs: accepted, duplicate, or refused with the reason.

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
    /// To whom.
    pub run: RunId,
    /// What it is called.
    pub name: Name,
    /// What it says.
    pub payload: Payload,
    /// The sender's id for it; the run sees each id once.
    pub dedup_id: Option<String>,
    /// Who sends it.
    pub by: Option<String>,
    /// The life of the run that it is for; without one it is for whichever the run lives.
    pub generation: Option<Generation>,
}

/// What became of an event that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is in the run's journal, at this record.
    Accepted(RecordNumber),
    /// An event with the same dedup id was there already, at this record.
    Duplicate(RecordNumber),
}

impl Core {
    pub(crate) async fn send(self: &Arc<Self>, event: SendEvent) -> Result<Sent, SendError> {
        self.send_from(event, None).await.map(|(sent, _)| sent)
    }

    /// Sends an event whose sender may wait for an answer under an id; also gives the life of the run that took it.
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
            // It may have been revived at that very moment.
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

    /// A commit to a run's inbox that takes the run for this node if it can execute it.
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

    /// Commits to a run's inbox and wakes whoever executes it.
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

    /// Why a closed run refuses.
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
