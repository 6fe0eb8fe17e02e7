//! Ends of runs, published to subscribers such as an exporter of traces.

use everstep_model::{Entry, Generation, RunId, StreamNumber};
use tokio::sync::broadcast;

/// The number of endings buffered for a slow subscriber.
const BUFFERED: usize = 16_384;

/// A generation of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending(StreamNumber);

impl Ending {
    pub(crate) fn stream(self) -> StreamNumber {
        self.0
    }
}

/// The ends of runs on this engine. Best effort: a slow subscriber misses some.
#[derive(Debug)]
pub struct Endings(broadcast::Receiver<StreamNumber>);

impl Endings {
    /// The next end of a run. `None` when the engine is gone.
    pub async fn next(&mut self) -> Option<Ending> {
        loop {
            match self.0.recv().await {
                Ok(stream) => return Some(Ending(stream)),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "slow subscriber missed ends of runs");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// A generation of a run that has ended, with its whole journal.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct EndedRun {
    pub run: RunId,
    pub generation: Generation,
    pub journal: Vec<Entry>,
}

pub(crate) struct EndingSource(broadcast::Sender<StreamNumber>);

impl Default for EndingSource {
    fn default() -> Self {
        Self(broadcast::channel(BUFFERED).0)
    }
}

impl EndingSource {
    pub(crate) fn publish(&self, stream: StreamNumber) {
        if self.0.receiver_count() > 0 {
            let _ = self.0.send(stream);
        }
    }

    pub(crate) fn subscribe(&self) -> Endings {
        Endings(self.0.subscribe())
    }
}
