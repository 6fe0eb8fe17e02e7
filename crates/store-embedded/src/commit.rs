//! The one write path: a staged batch becomes one write batch and one sync, and only then is it published.

use std::sync::{Mutex, MutexGuard};

use everstep_model::{StreamNumber, Term};
use everstep_store::{Commit, Head, Outcome, StoreError};
use fjall::{OwnedWriteBatch, PersistMode};

use crate::due::DueChanges;
use crate::keys;
use crate::pressure::Pressure;
use crate::sets::{ChangedPages, KnownPages, sets_of};
use crate::stage::{Stage, Staged};
use crate::store::Inner;
use crate::tables::Tables;
use crate::values;

/// What a frame takes in memory besides its bytes: its key, and its place.
const ROW_OVERHEAD: usize = 64;

/// What only the committer touches.
pub(crate) struct Writer {
    pub(crate) next_stream: StreamNumber,
    /// The term of new streams.
    pub(crate) term: Term,
    /// Why nothing is written any more.
    pub(crate) poisoned: Option<String>,
    pub(crate) pressure: Pressure,
    pub(crate) pages: KnownPages,
}

pub(crate) fn commit(inner: &Inner, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
    let mut writer = healthy(&inner.writer)?;
    let now = inner.clock.now();
    let mut stage = Stage::new(
        &inner.tables,
        &inner.cache,
        &inner.leases,
        now,
        (writer.next_stream, writer.term),
    );
    let mut outcomes = Vec::with_capacity(batch.len());
    for commit in batch {
        outcomes.push(stage.commit(commit)?);
    }
    let frames = stage.frames.values().flatten();
    let bytes = frames.map(|frame| frame.len() + ROW_OVERHEAD).sum();
    let rows = rows_of(&inner.tables, &mut stage, &mut writer.pages)?;
    if !rows.batch.is_empty() {
        writer.pressure.add(bytes);
        write(&inner.tables, &mut writer.pressure, rows.batch).inspect_err(|error| {
            writer.poisoned = Some(error.to_string());
        })?;
    }
    writer.pages.publish(rows.pages);
    writer.next_stream = stage.next_stream;
    writer.term = stage.term;
    inner
        .cache
        .publish(stage.heads.into_values().map(Staged::into_published));
    inner.due.publish(rows.due);
    inner.effects.publish(stage.effects);
    Ok(outcomes)
}

fn healthy(writer: &Mutex<Writer>) -> Result<MutexGuard<'_, Writer>, StoreError> {
    let poisoned = |detail: &str| StoreError::Poisoned {
        detail: detail.to_owned(),
    };
    let writer = writer.lock().map_err(|_| poisoned("a commit panicked"))?;
    match &writer.poisoned {
        Some(detail) => Err(poisoned(detail)),
        None => Ok(writer),
    }
}

/// Writes and syncs the batch; readers see its rows only after that (`OwnedWriteBatch::commit` writes the journal,
/// then persists it, then fills the memtables).
fn write(
    tables: &Tables,
    pressure: &mut Pressure,
    rows: OwnedWriteBatch,
) -> Result<(), StoreError> {
    let rows = rows.durability(Some(PersistMode::SyncData));
    pressure
        .relieve(tables)
        .and_then(|()| rows.commit())
        .map_err(|error| match tables.failed(&error) {
            full @ StoreError::Full { .. } => full,
            poisoned @ StoreError::Poisoned { .. } => poisoned,
            other => StoreError::Poisoned {
                detail: other.to_string(),
            },
        })
}

/// What a batch writes, and what is published of it once it is durable.
struct Rows {
    batch: OwnedWriteBatch,
    due: DueChanges,
    pages: ChangedPages,
}

/// Every key once, with its last value: rows of one write batch have no order among themselves.
fn rows_of(
    tables: &Tables,
    stage: &mut Stage<'_>,
    known: &mut KnownPages,
) -> Result<Rows, StoreError> {
    let count = stage.frames.len() + stage.heads.len() + stage.lookups.len() + stage.timers.len();
    let mut rows = Rows {
        batch: OwnedWriteBatch::with_capacity(tables.db.clone(), count),
        due: DueChanges {
            earliest_timer: stage.earliest_timer,
            ..DueChanges::default()
        },
        pages: ChangedPages::default(),
    };
    for ((stream, first), frame) in std::mem::take(&mut stage.frames) {
        let key = keys::frame(stream, first);
        match frame {
            Some(frame) => rows.batch.insert(&tables.journal, key, frame),
            None => rows.batch.remove(&tables.journal, key),
        }
    }
    for staged in stage.heads.values().filter(|staged| staged.row_changed) {
        head_rows(tables, staged, known, &mut rows)?;
    }
    rows.pages.rows(tables, &mut rows.batch);
    for (key, value) in stage.lookups.drain() {
        match value {
            Some(value) => rows.batch.insert(&tables.lookups, key, value),
            None => rows.batch.remove(&tables.lookups, key),
        }
    }
    for (key, value) in std::mem::take(&mut stage.timers) {
        match value {
            Some(value) => rows.batch.insert(&tables.timers, key, value),
            None => rows.batch.remove(&tables.timers, key),
        }
    }
    Ok(rows)
}

fn head_rows(
    tables: &Tables,
    staged: &Staged,
    known: &mut KnownPages,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    let head: &Head = &staged.head;
    let (number, key) = (head.number, keys::stream(head.number));
    if staged.is_removed {
        rows.batch.remove(&tables.heads, key);
    } else {
        let row = values::encode_head(head);
        rows.batch.insert(&tables.heads, key, row);
    }
    let was_ready = staged.before.as_ref().is_some_and(|before| before.ready);
    let is_ready = head.ready && !staged.is_removed;
    match (was_ready, is_ready) {
        (false, true) => rows.due.marked.push(number),
        (true, false) => rows.due.cleared.push(number),
        (false, false) | (true, true) => {}
    }
    let before = staged.before.as_deref().map(sets_of).unwrap_or_default();
    let after = Some(head).filter(|_| !staged.is_removed);
    let after = after.map(sets_of).unwrap_or_default();
    rows.pages.moved(number, before, after, known, tables)
}

#[cfg(test)]
mod tests;
