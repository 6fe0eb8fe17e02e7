//! A tail of the records of a run, from an engine or a server.

use crate::engine_error::EngineError;
use everstep_model::Entry;

/// A tail of the records of a run: durable records without gaps and repetitions.
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

    /// Waits for the next record. `None` after the last record of a run that has ended.
    ///
    /// # Errors
    /// If the records cannot be read.
    pub async fn next(&mut self) -> Result<Option<Entry>, EngineError> {
        match &mut self.0 {
            Source::Engine(records) => Ok(records.next().await?),
            #[cfg(feature = "remote")]
            Source::Server(tail) => tail.next().await,
        }
    }
}
