//! Runs that end, told to whoever follows them all, such as an exporter of traces.

use everstep_model::{Entry, Generation, RecordNumber, RunId, StreamNumber};
use everstep_store::StreamRef;
use tokio::sync::broadcast;

use crate::engine::Engine;
use crate::error::Unavailable;

/// Endings kept for a listener that is behind.
const KEPT: usize = 16_384;

/// A run, or one life of it, that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending(StreamNumber);

/// The endings of runs on this engine. Best effort: a listener that is far behind misses some.
#[derive(Debug)]
pub struct Endings(broadcast::Receiver<StreamNumber>);

impl Endings {
    /// The next one; none when the engine is gone.
    pub async fn next(&mut self) -> Option<Ending> {
        loop {
            match self.0.recv().await {
                Ok(stream) => return Some(Ending(stream)),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "a listener is behind and misses ends of runs");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// Where endings come from.
pub(crate) struct EndingsSource(broadcast::Sender<StreamNumber>);

impl Default for EndingsSource {
    fn default() -> Self {
        Self(broadcast::channel(KEPT).0)
    }
}

impl EndingsSource {
    pub(crate) fn tell(&self, stream: StreamNumber) {
        // Nobody listens: then it costs nothing.
        if self.0.receiver_count() > 0 {
            let _ = self.0.send(stream);
        }
    }
}

/// One life of a run that is over, whole.
#[derive(Clone, Debug)]
pub struct EndedRun {
    /// The run.
    pub run: RunId,
    /// Which life of it.
    pub generation: Generation,
    /// All it left.
    pub journal: Vec<Entry>,
}

impl Engine {
    /// The ends of runs from now on.
    #[must_use]
    pub fn endings(&self) -> Endings {
        Endings(self.core.endings.0.subscribe())
    }

    /// What ended; none if it was deleted since.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn ended_run(&self, ending: Ending) -> Result<Option<EndedRun>, Unavailable> {
        let head = self.core.store.head(StreamRef::Number(ending.0)).await?;
        let Some((run, generation)) = head.and_then(|head| head.name.run()) else {
            return Ok(None);
        };
        let journal = self.core.read_journal(ending.0, RecordNumber(0)).await?;
        Ok(Some(EndedRun {
            run,
            generation,
            journal,
        }))
    }
}
