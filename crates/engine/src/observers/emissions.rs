//! Emissions of workflows, distributed to subscribers.

use everstep_model::{Name, Payload, RunId};
use tokio::sync::broadcast;

/// The number of emissions buffered for a slow subscriber.
const BUFFERED: usize = 1_024;

/// A notification that a workflow emitted.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Emission {
    pub run: RunId,
    pub topic: Name,
    pub payload: Payload,
}

/// The emissions of workflows on this engine. Best effort: a slow subscriber misses some.
#[derive(Debug)]
pub struct Emissions(broadcast::Receiver<Emission>);

impl Emissions {
    /// The next emission. `None` when the engine is gone.
    pub async fn next(&mut self) -> Option<Emission> {
        loop {
            match self.0.recv().await {
                Ok(emission) => return Some(emission),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "slow subscriber missed emissions");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

pub(crate) struct EmissionSource(broadcast::Sender<Emission>);

impl Default for EmissionSource {
    fn default() -> Self {
        Self(broadcast::channel(BUFFERED).0)
    }
}

impl EmissionSource {
    pub(crate) fn publish(&self, emission: Emission) {
        let _ = self.0.send(emission);
    }

    pub(crate) fn subscribe(&self) -> Emissions {
        Emissions(self.0.subscribe())
    }
}
