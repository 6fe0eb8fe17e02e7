//! Sends events to runs.

use everstep_model::record::Event;
use everstep_model::{Generation, Name, Payload, RecordNumber, RunId, limits};
use everstep_store::{DeliverCommit, Guard, Head, Outcome, Refusal, StoreError};

use super::handler::Requests;
use super::start::check_key;
use crate::commit::projection::Effect;
use crate::error::{RunFinished, SendError, TooManyEvents};
use crate::execution::{Dispatcher, Parts};

/// An event to send.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct SendEvent {
    pub run: RunId,
    pub name: Name,
    pub payload: Payload,
    /// The sender's id of the event. The run receives each id once.
    pub dedup_id: Option<String>,
    /// The sender, for the journal.
    pub by: Option<String>,
    /// The generation of the run that it is for. `None` means the current one.
    pub generation: Option<Generation>,
}

impl SendEvent {
    /// Returns the event that an effect sends, if it is one. Its dedup id follows from the
    /// operation that sent it.
    pub(crate) fn of_effect(effect: &Effect) -> Option<Self> {
        let Effect::SendEvent {
            to,
            event,
            payload,
            sender,
        } = effect
        else {
            return None;
        };
        Some(Self {
            run: to.clone(),
            name: event.clone(),
            payload: payload.clone(),
            dedup_id: Some(sender.sent_dedup_id(to)),
            by: Some(sender.run.as_author()),
            generation: None,
        })
    }
}

/// The outcome of sending an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The event is in the run's journal, at this record.
    Accepted(RecordNumber),
    /// An event with the same dedup id is already in the journal, at this record.
    Duplicate(RecordNumber),
}

impl Requests {
    pub(crate) async fn send(&self, event: SendEvent) -> Result<Sent, SendError> {
        self.send_from(event, None).await.map(|(sent, _)| sent)
    }

    /// Sends an event whose sender may wait for a reply under an id. Also returns the head of the
    /// generation that received it.
    pub(super) async fn send_from(
        &self,
        event: SendEvent,
        reply_to: Option<&str>,
    ) -> Result<(Sent, Head), SendError> {
        self.parts.committer.check_open()?;
        event.payload.check_size()?;
        check_key("dedup id", event.dedup_id.as_deref())?;
        let Parts { node, workers, .. } = &*self.parts;
        let find = || node.find_generation::<SendError>(&event.run, event.generation);
        let (mut head, row) = find().await?;
        workers.check_event(&row, &event.name, &event.payload)?;
        let mut outcome = self.send_to(&head, &event, reply_to).await?;
        if matches!(outcome, Outcome::Refused(Refusal::Closed)) {
            // The run may have been revived concurrently.
            let (latest, _) = find().await?;
            if latest.number != head.number {
                outcome = self.send_to(&latest, &event, reply_to).await?;
                head = latest;
            }
        }
        match outcome {
            Outcome::Committed { first, .. } => Ok((Sent::Accepted(first), head)),
            Outcome::Duplicate { first, .. } => Ok((Sent::Duplicate(first), head)),
            Outcome::Refused(Refusal::TooManyEvents(count)) => {
                let (run, limit) = (event.run, unconsumed_max(&event.payload));
                Err(TooManyEvents { run, count, limit }.into())
            }
            Outcome::Refused(_) => Err(self.finished(event.run).await),
        }
    }

    async fn send_to(
        &self,
        head: &Head,
        event: &SendEvent,
        reply_to: Option<&str>,
    ) -> Result<Outcome, StoreError> {
        let commit = event_commit(&self.dispatcher, head, event, reply_to);
        self.dispatcher.deliver(&event.run, commit).await
    }

    /// Returns the error of a run that is closed.
    async fn finished(&self, run: RunId) -> SendError {
        match self.parts.node.find(&run).await {
            Ok((_, row)) => {
                let status = row.status;
                RunFinished { run, status }.into()
            }
            Err(error) => error.into(),
        }
    }
}

/// Returns the commit that delivers an event to a generation of a run.
pub(crate) fn event_commit(
    dispatcher: &Dispatcher,
    head: &Head,
    event: &SendEvent,
    reply_to: Option<&str>,
) -> DeliverCommit {
    let record = Event {
        name: event.name.clone(),
        payload: event.payload.clone(),
        dedup_id: event.dedup_id.clone(),
        reply_to: reply_to.map(str::to_owned),
        by: event.by.clone(),
    };
    let mut commit = dispatcher.inbox_commit(head, record);
    let limit = Guard::UnconsumedEventsBelow(unconsumed_max(&event.payload));
    commit.guards.push(limit);
    commit.dedup = event.dedup_id.clone();
    commit
}

/// Returns how many unconsumed events a run may have when it has received this one.
///
/// Larger events have a lower limit, so at any time at most `UNCONSUMED_BYTES_MAX / s` unconsumed
/// events have `s` bytes or more. The n-th largest has at most `UNCONSUMED_BYTES_MAX / n` bytes,
/// and all together have less than eight times `UNCONSUMED_BYTES_MAX`. No store needs to count
/// bytes.
fn unconsumed_max(payload: &Payload) -> u64 {
    let bytes = (payload.as_bytes().len() as u64).max(1);
    (limits::UNCONSUMED_BYTES_MAX / bytes).min(limits::UNCONSUMED_EVENTS_MAX)
}
