//! A tail of the records of a run, from an engine or a server.

use everstep_model::Entry;

use super::Response;
use super::error::ReadError;

/// A tail of the records of a run: durable records without gaps and repetitions.
#[derive(Debug)]
pub struct Records(Box<dyn Tail>);

/// The source of [`Records`].
pub(crate) trait Tail: std::fmt::Debug + Send {
    fn next(&mut self) -> Response<'_, Option<Entry>, ReadError>;
}

impl Tail for everstep_engine::Records {
    fn next(&mut self) -> Response<'_, Option<Entry>, ReadError> {
        Box::pin(async move { Ok(self.next().await?) })
    }
}

impl Records {
    pub(crate) fn new(tail: impl Tail + 'static) -> Self {
        Self(Box::new(tail))
    }

    /// Waits for the next record. Returns `None` after the last record of a run that has ended.
    pub async fn next(&mut self) -> Result<Option<Entry>, ReadError> {
        self.0.next().await
    }
}
