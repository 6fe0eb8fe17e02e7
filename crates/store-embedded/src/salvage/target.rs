//! The store that a salvage creates. Until it is finished, its mark says that it is being created,
//! so an interrupted one does not count as a store.

use std::path::{Path, PathBuf};

use everstep_store::StoreError;
use fjall::{Keyspace, OwnedWriteBatch};

use crate::directory::format::{self, Mark};
use crate::directory::lock::{self, DirectoryLock};
use crate::directory::{folders, permissions};
use crate::failure;
use crate::open;
use crate::options::Options;
use crate::salvage::files::{self, Findings};
use crate::salvage::report::SalvageReport;
use crate::salvage::row::Row;
use crate::salvage::streams;
use crate::storage::tables::Tables;
use crate::upgrade;

/// The number of rows in one write batch, which bounds memory.
const BATCH: usize = 1_000;

pub(super) struct Target {
    path: PathBuf,
    place: String,
    tables: Tables,
    rows: OwnedWriteBatch,
    _lock: DirectoryLock,
}

impl Target {
    /// Creates a store in an empty directory.
    pub(super) fn create(path: &Path) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        open::prepare(path, &place)?;
        let lock = lock::acquire(path, &place)?;
        if format::read(path, &place)? != Mark::Absent {
            return Err(StoreError::Unavailable {
                detail: format!("{place} is a store already; name an empty directory"),
            });
        }
        open::must_be_empty(path, &place)?;
        let data = path.join("data");
        format::write(path, format::CREATING)
            .and_then(|()| permissions::create_folder(&data))
            .map_err(failure::of_io(&place))?;
        let tables = Tables::open(&data, &Options::default(), &place)?;
        Ok(Self {
            path: path.to_owned(),
            place,
            rows: upgrade::batch(&tables),
            tables,
            _lock: lock,
        })
    }

    /// Writes a row, unless its table is derived from the others.
    pub(super) fn put(&mut self, table: u64, row: Row) -> Result<(), StoreError> {
        let (Some(table), Some(value)) = (self.table(table).cloned(), row.value) else {
            return Ok(());
        };
        self.rows.insert(&table, row.key, value);
        match self.rows.len() >= BATCH {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let rows = std::mem::replace(&mut self.rows, upgrade::batch(&self.tables));
        self.tables.check(rows.commit())
    }

    fn table(&self, number: u64) -> Option<&Keyspace> {
        match number {
            files::JOURNAL => Some(&self.tables.journal),
            files::HEADS => Some(&self.tables.heads),
            files::LOOKUPS => Some(&self.tables.lookups),
            files::TIMERS => Some(&self.tables.timers),
            _ => None,
        }
    }

    /// Takes out incomplete streams, and derives the lists and ready marks.
    pub(super) fn settle(&mut self, findings: &Findings) -> Result<SalvageReport, StoreError> {
        self.flush()?;
        let report = streams::settle(&self.tables, findings, &self.path.join("damaged"))?;
        upgrade::sets_from_heads(&self.tables)?;
        Ok(report)
    }

    pub(super) fn finish(self) -> Result<(), StoreError> {
        folders::sync_below(&self.path.join("data"))
            .and_then(|()| folders::sync_above(&self.path))
            .and_then(|()| format::write(&self.path, format::FINISHED))
            .map_err(failure::of_io(&self.place))
    }
}
