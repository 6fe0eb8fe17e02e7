//! The write path: a staged batch becomes one write batch and one sync, and is published only then.

use everstep_store::{Commit, Head, Outcome, StoreError};
use fjall::{OwnedWriteBatch, PersistMode};

use crate::encoding::keys;
use crate::encoding::values;
use crate::read::due::DueChanges;
use crate::sets;
use crate::state::inner::{Inner, Writer};
use crate::storage::pressure::Pressure;
use crate::storage::tables::{Tables, put};
use crate::write::stage::{Stage, Staged};

/// The memory that a frame takes besides its bytes.
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
    let deleted = stage.frames.values().filter(|frame| frame.is_none());
    let deleted = deleted.count() as u64;
    let (rows, due) = rows_of(&inner.tables, &mut stage);
    if !rows.is_empty() {
        writer.pressure.add(bytes);
        write(&inner.tables, &mut writer.pressure, rows)
            .and_then(|()| inner.presence.check(&inner.tables.place))
            .inspect_err(|error| {
                writer.poisoned = Some(match error {
                    StoreError::Poisoned { detail } => detail.clone(),
                    StoreError::Full { place } => format!("no space was left for {place}"),
                    other => other.to_string(),
                });
            })?;
        writer.pressure.deleted(deleted, &inner.tables);
    }
    writer.next_stream = stage.next_stream;
    writer.term = stage.term;
    let heads = stage.heads.into_values();
    inner.cache.publish(heads.map(Staged::into_published));
    inner.due.publish(due);
    let pages = stage.pages.into_iter();
    inner
        .pages
        .publish(pages.map(|(key, page)| (key, Some(page))));
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
            StoreError::Unavailable { detail } => StoreError::Poisoned { detail },
            other => StoreError::Poisoned {
                detail: other.to_string(),
            },
        })
}

/// Converts a stage to rows and to changes of what is due. The rows of a write batch are not
/// ordered, so each key occurs once.
fn rows_of(tables: &Tables, stage: &mut Stage<'_>) -> (OwnedWriteBatch, DueChanges) {
    let count = stage.frames.len() + stage.heads.len() + stage.lookups.len() + stage.timers.len();
    let mut rows = OwnedWriteBatch::with_capacity(tables.db.clone(), count + stage.pages.len());
    for ((stream, first), frame) in std::mem::take(&mut stage.frames) {
        put(
            &mut rows,
            &tables.journal,
            keys::frame(stream, first),
            frame,
        );
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
        put(&mut rows, &tables.lookups, key, value);
    }
    for (key, value) in std::mem::take(&mut stage.timers) {
        put(&mut rows, &tables.timers, key, value);
    }
    (rows, due)
}

fn head_row(tables: &Tables, staged: &Staged, rows: &mut OwnedWriteBatch, due: &mut DueChanges) {
    let head: &Head = &staged.head;
    let value = (!staged.is_removed).then(|| values::encode_head(head));
    put(rows, &tables.heads, keys::stream(head.number), value);
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
