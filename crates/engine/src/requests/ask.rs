//! Requests to a run: an event whose sender waits for the reply.
//!
//! The reply is a record in the journal that received the event, and stays there for a while even
//! if its loop drops it (`limits::REPLY_KEPT`). If that generation ends without a reply and the
//! next one inherits the event, the reply may be in the next; the sender's id identifies the event.

use std::fmt;
use std::sync::Arc;

use everstep_model::{Body, Generation, Payload, RecordNumber, RunId};
use everstep_store::StoreError;

use super::handler::Requests;
use super::send::{SendEvent, Sent};
use super::start::random_id;
use super::watch::Records;
use crate::error::{SendError, Unavailable};
use crate::execution::Parts;

/// An event that was sent and may get a reply.
pub struct PendingReply {
    parts: Arc<Parts>,
    run: RunId,
    id: String,
    sent: Sent,
    /// The generation whose journal is read.
    generation: Generation,
    /// The record number of the event in that journal.
    event: RecordNumber,
    records: Records,
}

impl Requests {
    /// Sends an event whose sender waits for the reply.
    pub(crate) async fn ask(&self, event: SendEvent) -> Result<PendingReply, SendError> {
        let id = random_id(&self.parts.node);
        let run = event.run.clone();
        let (sent, head) = self.send_from(event, Some(&id)).await?;
        let (Sent::Accepted(event) | Sent::Duplicate(event)) = sent;
        let generation = head.run.map_or(Generation::FIRST, |row| row.generation);
        Ok(PendingReply {
            records: Records::new(&self.parts, head.number, event),
            parts: self.parts.clone(),
            run,
            id,
            sent,
            generation,
            event,
        })
    }
}

impl PendingReply {
    /// Returns the outcome of sending the event.
    #[must_use]
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// Waits for the reply. `None` if the run ended without one.
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

    /// Continues with the next generation of the run. Returns false if there is none, or if it does
    /// not contain the event.
    async fn follow(&mut self) -> Result<bool, StoreError> {
        let node = &self.parts.node;
        let next = self.generation.next();
        let Some(head) = node.generation(&self.run, next).await? else {
            return Ok(false);
        };
        let is_same = |body: &Body| match body {
            Body::Event(event) => event.reply_to.as_ref() == Some(&self.id),
            _ => false,
        };
        let Some(event) = node.find_record(head.number, is_same).await? else {
            return Ok(false);
        };
        self.records = Records::new(&self.parts, head.number, event.number);
        self.event = event.number;
        self.generation = next;
        Ok(true)
    }
}

impl fmt::Debug for PendingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReply")
            .field("run", &self.run)
            .field("sent", &self.sent)
            .finish_non_exhaustive()
    }
}
