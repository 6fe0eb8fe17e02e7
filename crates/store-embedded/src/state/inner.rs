//! The state of an open store.

use std::sync::{Arc, Mutex, MutexGuard};

use everstep_model::{StreamNumber, Term};
use everstep_store::{Clock, StoreError};

use crate::directory::extent::NoteExtent;
use crate::directory::lock::DirectoryLock;
use crate::directory::presence::Presence;
use crate::read::due::Due;
use crate::read::effects::Effects;
use crate::sets::PageCache;
use crate::state::cache::HeadCache;
use crate::state::leases::Leases;
use crate::storage::pressure::Pressure;
use crate::storage::tables::Tables;

pub(crate) struct Inner {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) cache: HeadCache,
    pub(crate) leases: Leases,
    pub(crate) pages: PageCache,
    pub(crate) due: Due,
    pub(crate) effects: Effects,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) tables: Tables,
    pub(crate) presence: Presence,
    /// Written after the tables are closed.
    pub(crate) extent: NoteExtent,
    /// Released last.
    pub(crate) _lock: DirectoryLock,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let writer = self.writer.get_mut();
        if writer.is_err() || writer.is_ok_and(|writer| writer.poisoned.is_some()) {
            self.extent.0 = None;
        }
    }
}

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
