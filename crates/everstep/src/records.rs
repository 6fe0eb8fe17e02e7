//! The records of a run as they come, from whoever has them.

use crate::engine_error::EngineError;
use everstep_model::Entry;

/// The records of a run as they come: no gap, no repetition, nothing that is not durable.
#[derive(Debug)]
pub struct Records(Source);

#[derive(Debug)]
enum Source {
    Engine(everstep_engine::Records),
    #[cfg(feature = "remote")]
    Server(Box<crate::remote::Tail>),
}

impl Records {
    pub(crate) fn of_engine(records: everstep_engine::Records) -> Self {
        Self(Source::Engine(records))
    }

    #[cfg(feature = "remote")]
    pub(crate) fn of_server(tail: crate::remote::Tail) -> Self {
        Self(Source::Server(Box::new(tail)))
    }

    /// The next record; none once the run is over and everything was seen.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn next(&mut self) -> Result<Option<Entry>, EngineError> {
        match &mut self.0 {
            Source::Engine(records) => Ok(records.next().await?),
            #[cfg(feature = "remote")]
            Source::Server(tail) => tail.next().await,
        }
    }
}
