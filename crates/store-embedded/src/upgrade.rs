//! The upgrade from older formats, which have other sets of streams: format 1 has one row for each
//! member instead of pages, formats 2 and 3 have no list of all runs, and format 4 has no lists by
//! hour.
//!
//! The sets are deleted and derived from the heads. An interrupted upgrade starts again when the
//! store is opened the next time.

use everstep_store::StoreError;
use fjall::{Keyspace, OwnedWriteBatch, PersistMode, Readable};

use crate::encoding::keys;
use crate::encoding::page;
use crate::sets::{self, Pages, sets_of_stream};
use crate::storage::tables::Tables;
use crate::storage::view::View;

/// The number of rows in one write batch, which bounds memory.
const BATCH: usize = 1_000;

/// Replaces the lists and the ready marks by those that the heads imply.
pub(crate) fn sets_from_heads(tables: &Tables) -> Result<(), StoreError> {
    tracing::info!(
        place = tables.place,
        "rebuilding the lists of runs and the ready marks"
    );
    for table in [&tables.lists, &tables.ready] {
        tables.check(clear(tables, table))?;
    }
    let view = View::new(tables);
    let mut pages = Pages::new();
    let mut current = 0;
    for row in view.snapshot.iter(&tables.heads) {
        let key = tables.check(row.key())?;
        let stream = view.check("the key of a head", keys::stream_of_head(&key))?;
        let number = page::number_of(stream);
        // Heads are in order, so the pages of all earlier ones are complete.
        if number != current && pages.len() >= BATCH {
            write(tables, std::mem::take(&mut pages))?;
        }
        current = number;
        for set in sets_of_stream(&view, stream)? {
            pages.entry((set, number)).or_default().put(stream, true);
        }
    }
    write(tables, pages)
}

fn write(tables: &Tables, pages: Pages) -> Result<(), StoreError> {
    let mut rows = batch(tables);
    sets::put_rows(&pages, tables, &mut rows);
    tables.check(rows.commit())
}

fn clear(tables: &Tables, table: &Keyspace) -> fjall::Result<()> {
    let snapshot = tables.db.snapshot();
    let mut keys = snapshot.iter(table).map(fjall::Guard::key).peekable();
    while keys.peek().is_some() {
        let mut rows = batch(tables);
        for key in keys.by_ref().take(BATCH) {
            rows.remove(table, key?);
        }
        rows.commit()?;
    }
    Ok(())
}

/// Creates a batch that is synced. A batch that another one follows must be complete, otherwise the
/// log counts as damaged (`journal_check`).
pub(crate) fn batch(tables: &Tables) -> OwnedWriteBatch {
    let rows = OwnedWriteBatch::with_capacity(tables.db.clone(), BATCH);
    rows.durability(Some(PersistMode::SyncData))
}

#[cfg(test)]
mod tests;
