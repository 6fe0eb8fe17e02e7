//! The one write path: a staged batch becomes one write batch and one sync, and only then is it published.

use std::sync::{Mutex, MutexGuard};

use everstep_model::{RunStatus, StreamNumber, Term};
use everstep_store::{Commit, Head, Outcome, RunRow, StoreError};
use fjall::{OwnedWriteBatch, PersistMode};

use crate::due::DueChanges;
use crate::keys;
use crate::pressure::Pressure;
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

/// Every key once, with its last value: rows of one write batch have no order among themselves.
fn rows_of(tables: &Tables, stage: &mut Stage<'_>) -> (OwnedWriteBatch, DueChanges) {
    let count = stage.frames.len() + stage.heads.len() + stage.lookups.len() + stage.timers.len();
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
        head_rows(tables, staged, &mut rows, &mut due);
    }
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

fn head_rows(tables: &Tables, staged: &Staged, rows: &mut OwnedWriteBatch, due: &mut DueChanges) {
    let head: &Head = &staged.head;
    let number = head.number;
    if staged.is_removed {
        rows.remove(&tables.heads, keys::stream(number));
    } else {
        rows.insert(
            &tables.heads,
            keys::stream(number),
            values::encode_head(head),
        );
    }
    let was_ready = staged.before.as_ref().is_some_and(|before| before.ready);
    let is_ready = head.ready && !staged.is_removed;
    if is_ready && !was_ready {
        rows.insert(&tables.ready, keys::stream(number), Vec::new());
        due.marked.push(number);
    } else if was_ready && !is_ready {
        rows.remove(&tables.ready, keys::stream(number));
        due.cleared.push(number);
    }
    let before = staged.before.as_ref().and_then(|before| before.listed());
    let after = head.listed().filter(|_| !staged.is_removed);
    if before != after {
        list_rows(tables, number, before, after, rows);
    }
}

fn list_rows(
    tables: &Tables,
    number: StreamNumber,
    before: Option<&RunRow>,
    after: Option<&RunRow>,
    rows: &mut OwnedWriteBatch,
) {
    let kind = |run: Option<&RunRow>| -> Option<(everstep_model::Name, RunStatus)> {
        run.map(|run| (run.workflow.clone(), run.status))
    };
    if kind(before) != kind(after) {
        if let Some((workflow, status)) = kind(before) {
            let key = keys::listed(keys::status(&workflow, status), number);
            rows.remove(&tables.lists, key);
        }
        if let Some((workflow, status)) = kind(after) {
            let key = keys::listed(keys::status(&workflow, status), number);
            rows.insert(&tables.lists, key, Vec::new());
        }
    }
    let tags = |run: Option<&RunRow>| run.map(|run| run.tags.clone()).unwrap_or_default();
    let (before, after) = (tags(before), tags(after));
    for (place, tag) in before.iter().enumerate() {
        if !after.contains(tag) && !before.iter().take(place).any(|t| t == tag) {
            rows.remove(&tables.lists, keys::listed(keys::tag(tag), number));
        }
    }
    for (place, tag) in after.iter().enumerate() {
        if !before.contains(tag) && !after.iter().take(place).any(|t| t == tag) {
            rows.insert(
                &tables.lists,
                keys::listed(keys::tag(tag), number),
                Vec::new(),
            );
        }
    }
}

#[cfg(test)]
mod tests;
