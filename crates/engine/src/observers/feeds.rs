//! Feeds of what happens on this engine, for subscribers: emissions of workflows and ends of runs.

use everstep_model::{Entry, Generation, Name, Payload, RunId, StreamNumber};
use tokio::sync::broadcast::{self, error::RecvError};

/// A notification that a workflow emitted.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Emission {
    pub run: RunId,
    pub topic: Name,
    pub payload: Payload,
}

/// A generation of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending(pub(crate) StreamNumber);

/// A generation of a run that has ended, with its whole journal.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct EndedRun {
    pub run: RunId,
    pub generation: Generation,
    pub journal: Vec<Entry>,
}

/// The emissions of workflows on this engine.
pub type Emissions = Feed<Emission>;

/// The ends of runs on this engine.
pub type Endings = Feed<Ending>;

/// Items that are published on this engine. Best effort: a slow subscriber misses some.
#[derive(Debug)]
pub struct Feed<T> {
    pub(crate) receiver: broadcast::Receiver<T>,
    /// What the items are, for the log.
    pub(crate) items: &'static str,
}

impl<T: Clone> Feed<T> {
    /// Returns the next item. `None` when the engine was dropped.
    pub async fn next(&mut self) -> Option<T> {
        loop {
            match self.receiver.recv().await {
                Ok(item) => return Some(item),
                Err(RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "slow subscriber missed {}", self.items);
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
