//! The state of the write path.

use std::sync::{Mutex, MutexGuard};

use everstep_model::{StreamNumber, Term};
use everstep_store::StoreError;

use crate::storage::pressure::Pressure;

/// The state that only the write path uses.
pub(crate) struct Writer {
    pub(crate) next_stream: StreamNumber,
    /// The term of new streams.
    pub(crate) term: Term,
    /// The failure that ended all writing.
    pub(crate) poisoned: Option<String>,
    pub(crate) pressure: Pressure,
}

impl Writer {
    /// Locks the writer, unless an earlier failure has ended all writing.
    pub(crate) fn healthy(writer: &Mutex<Self>) -> Result<MutexGuard<'_, Self>, StoreError> {
        let poisoned = |detail: &str| StoreError::Poisoned {
            detail: detail.to_owned(),
        };
        let writer = writer.lock().map_err(|_| poisoned("a commit panicked"))?;
        match &writer.poisoned {
            Some(detail) => Err(poisoned(detail)),
            None => Ok(writer),
        }
    }
}
