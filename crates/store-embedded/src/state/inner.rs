//! The state of an open store.

use std::sync::{Arc, Mutex};

use everstep_store::Clock;

use crate::directory::extent::NoteExtent;
use crate::directory::lock::DirectoryLock;
use crate::read::due::Due;
use crate::read::effects::Effects;
use crate::sets::KnownPages;
use crate::state::cache::HeadCache;
use crate::state::leases::Leases;
use crate::state::writer::Writer;
use crate::storage::tables::Tables;

pub(crate) struct Inner {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) cache: HeadCache,
    pub(crate) leases: Leases,
    pub(crate) pages: KnownPages,
    pub(crate) due: Due,
    pub(crate) effects: Effects,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) tables: Tables,
    /// Written after the tables are closed.
    pub(crate) extent: NoteExtent,
    /// Released last.
    pub(crate) _lock: DirectoryLock,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let writer = self.writer.get_mut();
        if writer.is_err() || writer.is_ok_and(|writer| writer.poisoned.is_some()) {
            self.extent.disarm();
        }
    }
}
