//! Asking a run: an event whose sender waits for the answer.
//!
//! The answer is a record of the journal that took the event, and stays there for a while whatever its loop drops
//! (`limits::REPLY_KEPT`). If that life of the run ended without it and the next one inherited the event, the answer may
//! come there; the event is known by the id under which its sender waits.

use std::sync::Arc;

use everstep_model::{Body, Entry, Generation, Payload, RecordNumber, RunId, StreamName};
use everstep_store::{StoreError, StreamRef};

use crate::core::Core;
use crate::error::{SendError, Unavailable};
use crate::send::{SendEvent, Sent};
use crate::watch::Records;

/// A request that was sent, and whose answer may come.
#[derive(Debug)]
pub struct Question {
    run: RunId,
    id: String,
    sent: Sent,
    /// The life of the run that is looked at.
    generation: Generation,
    /// The event in it.
    event: RecordNumber,
    records: Records,
}

impl Core {
    /// Sends an event whose sender waits for the answer.
    pub(crate) async fn ask(self: &Arc<Self>, event: SendEvent) -> Result<Question, SendError> {
        let (a, b) = (self.runtime.random(), self.runtime.random());
        let id = format!("{a:016x}{b:016x}");
        let run = event.run.clone();
        let (sent, head) = self.send_from(event, Some(&id)).await?;
        let (Sent::Accepted(event) | Sent::Duplicate(event)) = sent;
        let generation = head.run.map_or(Generation::FIRST, |row| row.generation);
        Ok(Question {
            records: self.records_of(head.number, event),
            run,
            id,
            sent,
            generation,
            event,
        })
    }
}

impl Question {
    /// What became of the event.
    #[must_use]
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// Waits for the answer; none if the run ended without one.
    ///
    /// # Errors
    /// If the store fails, or the engine shuts down.
    pub async fn answer(mut self) -> Result<Option<Payload>, Unavailable> {
        loop {
            while let Some(entry) = self.records.next().await? {
                match entry.record.body {
                    Body::Replied(reply) if reply.event == self.event => {
                        return Ok(Some(reply.payload));
                    }
                    _ => {}
                }
            }
            if !self.follow().await? {
                return Ok(None);
            }
        }
    }

    /// Goes on with the next life of the run; false if there is none, or it knows nothing of the event.
    async fn follow(&mut self) -> Result<bool, StoreError> {
        let core = self.records.core();
        let next = self.generation.next();
        let name = StreamName::of_run(&self.run, next);
        let Some(head) = core.store.head(StreamRef::Name(name)).await? else {
            return Ok(false);
        };
        let journal = core.read_journal(head.number, RecordNumber(0)).await?;
        let is_it = |entry: &&Entry| match &entry.record.body {
            Body::Event(event) => event.reply_to.as_ref() == Some(&self.id),
            _ => false,
        };
        let Some(event) = journal.iter().find(is_it) else {
            return Ok(false);
        };
        self.event = event.number;
        self.generation = next;
        self.records = core.records_of(head.number, event.number);
        Ok(true)
    }
}
