//! Derives rows of timers and open rpcs from records, and the records that a loop drops. Each
//! record suffices by itself, so no run is folded.

use std::collections::BTreeMap;

use everstep_machine::Obsolete;
use everstep_model::record::TimerPurpose;
use everstep_model::{Body, Location, Record, RecordRange, StreamNumber, Timestamp};
use everstep_store::{Row, RowChanges, RowKey, RpcRow, TimerRow};
use rustc_hash::FxHashSet;

/// Adds the rows of all records of a commit to its changes, and returns the timers it sets.
pub(crate) fn project(
    records: &[Record],
    stream: StreamNumber,
    rows: &mut RowChanges,
) -> Vec<TimerRow> {
    let mut timers = Vec::new();
    for record in records {
        project_record(record, stream, rows, &mut timers);
    }
    cancel_out(rows, &mut timers);
    timers
}

/// Returns the records that the loops in these records drop.
pub(crate) fn dropped(records: &[Record]) -> Vec<RecordRange> {
    let dropped = records.iter().flat_map(|record| match &record.body {
        Body::LoopAdvanced(advanced) => advanced.dropped.as_slice(),
        _ => &[],
    });
    dropped.copied().collect()
}

/// Removes timers and rpcs that are set and deleted in the same commit. A commit may contain
/// thousands of both, because code that finds its events waiting consumes them without a pause.
fn cancel_out(rows: &mut RowChanges, timers: &mut Vec<TimerRow>) {
    if rows.delete.is_empty() || rows.put.is_empty() {
        return;
    }
    let set_here: FxHashSet<RowKey> = rows.put.iter().map(Row::key).collect();
    let ended = rows.delete.iter().filter(|key| ends_what_it_names(key));
    let ended = ended.filter(|key| set_here.contains(*key));
    let ended_here: FxHashSet<RowKey> = ended.cloned().collect();
    if ended_here.is_empty() {
        return;
    }
    rows.delete.retain(|key| !ended_here.contains(key));
    rows.put.retain(|row| !ended_here.contains(&row.key()));
    timers.retain(|timer| !ended_here.contains(&RowKey::Timer(timer.clone())));
}

/// Returns whether deleting this row ends what the same commit created. A store deletes before it
/// puts, so for all other rows a deletion and a put of one key replace the row.
fn ends_what_it_names(key: &RowKey) -> bool {
    match key {
        RowKey::Timer(_) | RowKey::Rpc(..) => true,
        RowKey::Idempotency(..)
        | RowKey::Generation(_)
        | RowKey::Outbox(..)
        | RowKey::Stream(_)
        | RowKey::Producer(..)
        | RowKey::Shared(_) => false,
    }
}

/// The rows that a journal may still have: those that were set and not ended by a record. Code that
/// drops an operation does not always record that, so some of them may not exist. A row too many is
/// harmless, because its operation has ended.
pub(crate) struct OpenRows {
    stream: StreamNumber,
    rows: BTreeMap<RowKey, Row>,
}

impl OpenRows {
    /// Returns the rows of an empty journal.
    pub(crate) fn new(stream: StreamNumber) -> Self {
        let rows = BTreeMap::new();
        Self { stream, rows }
    }

    pub(crate) fn of<'a>(records: impl Iterator<Item = &'a Record>, stream: StreamNumber) -> Self {
        let mut open = Self::new(stream);
        records.for_each(|record| open.fold(record));
        open
    }

    /// Adds the next record.
    pub(crate) fn fold(&mut self, record: &Record) {
        let mut changes = RowChanges::default();
        project_record(record, self.stream, &mut changes, &mut Vec::new());
        for row in changes.put {
            self.rows.insert(row.key(), row);
        }
        if let Body::TimerFired(fired) = &record.body {
            changes.delete.push(RowKey::Timer(TimerRow {
                due: fired.due,
                stream: self.stream,
                purpose: fired.purpose,
                location: fired.location.clone(),
            }));
        }
        for key in changes.delete {
            self.rows.remove(&key);
        }
    }

    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows.into_values().collect()
    }

    pub(crate) fn keys(&self) -> Vec<RowKey> {
        self.rows.keys().cloned().collect()
    }
}

/// Returns the key of a row that is no longer needed.
pub(crate) fn obsolete_key(obsolete: Obsolete, stream: StreamNumber) -> RowKey {
    match obsolete {
        Obsolete::Timer(due, purpose, location) => RowKey::Timer(TimerRow {
            due,
            stream,
            purpose,
            location,
        }),
        Obsolete::Rpc(id) => RowKey::Rpc(stream, id),
    }
}

fn project_record(
    record: &Record,
    stream: StreamNumber,
    rows: &mut RowChanges,
    timers: &mut Vec<TimerRow>,
) {
    let timer = |due: Timestamp, purpose, location: Option<&Location>| TimerRow {
        due,
        stream,
        purpose,
        location: location.cloned(),
    };
    match &record.body {
        Body::RpcRequested(r) => rows.put.push(Row::Rpc(RpcRow {
            stream,
            id: r.rpc_id.clone(),
            location: r.location.clone(),
            method: r.method.clone(),
            deadline: r.deadline,
            schema: r.schema.clone(),
        })),
        Body::RpcAnswered(r) => rows.delete.push(RowKey::Rpc(stream, r.rpc_id.clone())),
        Body::RpcCompleted(r) => {
            rows.delete.push(RowKey::Rpc(stream, r.rpc_id.clone()));
            let ended = |due| RowKey::Timer(timer(due, TimerPurpose::Rpc, Some(&r.location)));
            rows.delete.extend(r.deadline.map(ended));
        }
        Body::WaitCompleted(r) => {
            let ended = |due| RowKey::Timer(timer(due, TimerPurpose::Wait, Some(&r.location)));
            rows.delete.extend(r.deadline.map(ended));
        }
        // The other kinds have no rows except timers.
        _ => {}
    }
    if let Some((due, purpose, location)) = timer_of(&record.body) {
        let row = timer(due, purpose, location);
        timers.push(row.clone());
        rows.put.push(Row::Timer(row));
    }
}

/// Returns the timer that a record sets.
fn timer_of(body: &Body) -> Option<(Timestamp, TimerPurpose, Option<&Location>)> {
    let (due, purpose, location) = match body {
        Body::Created(r) => (r.deadline, TimerPurpose::Deadline, None),
        Body::Sleeping(r) => (Some(r.until), TimerPurpose::Sleep, Some(&r.location)),
        Body::Waiting(r) => (r.deadline, TimerPurpose::Wait, Some(&r.location)),
        Body::RpcRequested(r) => (r.deadline, TimerPurpose::Rpc, Some(&r.location)),
        Body::ChildStarted(r) => (r.deadline, TimerPurpose::Child, Some(&r.location)),
        Body::StepFailed(r) => (r.retry_at, TimerPurpose::Retry, Some(&r.location)),
        Body::UndoFailed(r) => (r.retry_at, TimerPurpose::Undo, Some(&r.location)),
        Body::ExecutionRetried(r) => (Some(r.retry_at), TimerPurpose::ExecutionRetry, None),
        _ => return None,
    };
    Some((due?, purpose, location))
}

#[cfg(test)]
mod tests;
