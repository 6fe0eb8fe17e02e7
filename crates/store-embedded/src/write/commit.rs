//! The one write path: a staged batch becomes one write batch and one sync, and only then is it
//! published.

use everstep_store::{Commit, Head, Outcome, StoreError};
use fjall::{OwnedWriteBatch, PersistMode};

use crate::encoding::keys;
use crate::encoding::values;
use crate::read::due::DueChanges;
use crate::sets;
use crate::state::inner::Inner;
use crate::state::writer::Writer;
use crate::storage::pressure::Pressure;
use crate::storage::tables::Tables;
use crate::write::stage::{Stage, Staged};

/// What a frame takes in memory besides its bytes: its key, and its place.
const ROW_OVERHEAD: usize = 64;

pub(crate) fn commit(inner: &Inner, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
    let mut writer = Writer::healthy(&inner.writer)?;
    let mut stage = Stage::new(inner, (writer.next_stream, writer.term));
    let mut outcomes = Vec::with_capacity(batch.len());
    for commit in batch {
        outcomes.push(stage.commit(commit)?);
    }
    let frames = stage.frames.values().flatten();
    let bytes = frames.map(|frame| frame.len() + ROW_OVERHEAD).sum();
    let (rows, due) = rows_of(&inner.tables, &mut stage);
    if !rows.is_empty() {
        writer.pressure.add(bytes);
        write(&inner.tables, &mut writer.pressure, rows).inspect_err(|error| {
            writer.poisoned = Some(error.to_string());
        })?;
    }
    writer.next_stream = stage.next_stream;
    writer.term = stage.term;
    inner
        .cache
        .publish(stage.heads.into_values().map(Staged::into_published));
    inner.due.publish(due);
    inner.pages.publish(stage.pages);
    inner.effects.publish(stage.effects);
    Ok(outcomes)
}

/// Writes and syncs the batch; readers see its rows only after that (`OwnedWriteBatch::commit`
/// writes the journal, then persists it, then fills the memtables).
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

/// Every key once, with its last value: rows of one write batch have no order among themselves.
fn rows_of(tables: &Tables, stage: &mut Stage<'_>) -> (OwnedWriteBatch, DueChanges) {
    let count = stage.frames.len() + stage.heads.len() + stage.lookups.len() + stage.timers.len();
    let count = count + stage.pages.len();
    let mut rows = OwnedWriteBatch::with_capacity(tables.db.clone(), count);
    for ((stream, first), frame) in std::mem::take(&mut stage.frames) {
        let key = keys::frame(stream, first);
        match frame {
            Some(frame) => rows.insert(&tables.journal, key, frame),
            None => rows.remove(&tables.journal, key),
        }
    }
    let mut due = DueChanges {
        earliest_timer: stage.earliest_timer,
        ..DueChanges::default()
    };
    for staged in stage.heads.values().filter(|staged| staged.row_changed) {
        head_row(tables, staged, &mut rows, &mut due);
    }
    sets::put_rows(&stage.pages, tables, &mut rows);
    for (key, value) in stage.lookups.drain() {
        match value {
            Some(value) => rows.insert(&tables.lookups, key, value),
            None => rows.remove(&tables.lookups, key),
        }
    }
    for (key, value) in std::mem::take(&mut stage.timers) {
        match value {
            Some(value) => rows.insert(&tables.timers, key, value),
            None => rows.remove(&tables.timers, key),
        }
    }
    (rows, due)
}

fn head_row(tables: &Tables, staged: &Staged, rows: &mut OwnedWriteBatch, due: &mut DueChanges) {
    let head: &Head = &staged.head;
    let key = keys::stream(head.number);
    if staged.is_removed {
        rows.remove(&tables.heads, key);
    } else {
        rows.insert(&tables.heads, key, values::encode_head(head));
    }
    let was_ready = staged.before.as_ref().is_some_and(|before| before.ready);
    let is_ready = head.ready && !staged.is_removed;
    match (was_ready, is_ready) {
        (false, true) => due.marked.push(head.number),
        (true, false) => due.cleared.push(head.number),
        (false, false) | (true, true) => {}
    }
}

#[cfg(test)]
mod tests;
