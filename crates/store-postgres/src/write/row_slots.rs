//! The rows that a batch reads and writes, each listed once.

use std::collections::HashMap;

use everstep_model::StreamNumber;
use everstep_store::{Commit, CommitTime, Row, RowKey, SharedRow};

use crate::number::{slot, uncount};
use crate::schema::rows::{StoredKey, contents, expected_contents};
use crate::write::columns::Columns;

/// The row is only written.
const BLIND: i16 = 0;
/// The row is read; the lock of its stream protects it.
const READ: i16 = 1;
/// The row is read and locked: commits of other streams write it too.
const LOCKED: i16 = 2;

/// The column `place` is given by the row.
const GIVEN: i16 = 0;
/// The column `place` is the number of the commit's stream.
const NUMBER: i16 = 1;
/// The column `place` is where the stream ends after the commit.
const END: i16 = 2;
/// The column `place` is the time of the commit.
const TIME: i16 = 3;

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) row: StoredKey,
    /// Whether it belongs to a stream that the batch creates, which has no number yet.
    pub(crate) is_created: bool,
    pub(crate) mode: i16,
}

/// A change of a row. A deletion with a value applies only if the row has this value and place.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The slot of the row.
    pub(crate) row: i32,
    pub(crate) is_put: bool,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) place: Option<i64>,
    pub(crate) placing: i16,
}

pub(crate) struct RowSlots {
    slots: Vec<Slot>,
    /// Indexes of slots, by row and by the commit that creates its stream.
    indexes: HashMap<(StoredKey, Option<usize>), usize>,
    /// By commit: deletions, then puts.
    changes: Vec<Vec<Change>>,
}

impl RowSlots {
    pub(crate) fn new(commits: usize) -> Self {
        let mut changes = Vec::new();
        changes.resize_with(commits, Vec::new);
        Self {
            slots: Vec::new(),
            indexes: HashMap::new(),
            changes,
        }
    }

    /// Adds a row that the judgement reads.
    pub(crate) fn read(&mut self, commit: &Commit, key: &RowKey) -> i32 {
        self.read_at(commit, StoredKey::of(key))
    }

    pub(crate) fn read_at(&mut self, commit: &Commit, row: StoredKey) -> i32 {
        let mode = mode(commit, &row, READ);
        self.slot(row, None, mode)
    }

    pub(crate) fn delete(&mut self, index: usize, commit: &Commit, key: &RowKey) {
        let row = StoredKey::of(key);
        let mode = mode(commit, &row, BLIND);
        let row = self.slot(row, None, mode);
        self.change(index, deletion(row));
    }

    pub(crate) fn delete_exact(&mut self, index: usize, commit: &Commit, row: &SharedRow) {
        let row = Row::Shared(row.clone());
        let (value, place) = expected_contents(&row);
        let change = Change {
            value: Some(value),
            place,
            ..deletion(self.read(commit, &row.key()))
        };
        self.change(index, change);
    }

    pub(crate) fn put(&mut self, index: usize, commit: &Commit, row: &Row) {
        let (value, given) = contents(row);
        let mut at = StoredKey::of(&row.key());
        let is_own = match row {
            Row::Timer(_) | Row::Rpc(_) | Row::Outbox(_) | Row::Producer(_) => true,
            Row::Stream(row) => row.stream == StreamNumber(0),
            Row::Idempotency(_) | Row::Generation(_) | Row::Shared(_) => false,
        };
        let placing = match (commit, row) {
            (_, Row::Shared(row)) if row.committed_at == CommitTime::FillIn => TIME,
            (Commit::Remove(_), _) => GIVEN,
            (_, Row::Generation(_)) => NUMBER,
            (_, Row::Producer(_)) => END,
            _ => GIVEN,
        };
        let row = if is_own && commit.created().is_some() {
            at.stream = StreamNumber(0);
            self.slot(at, Some(index), BLIND)
        } else {
            if let Some(number) = commit.stream().filter(|_| is_own) {
                at.stream = number;
            }
            let mode = mode(commit, &at, BLIND);
            self.slot(at, None, mode)
        };
        let change = Change {
            row,
            is_put: true,
            value: Some(value),
            place: given,
            placing,
        };
        self.change(index, change);
    }

    fn slot(&mut self, row: StoredKey, created_by: Option<usize>, mode: i16) -> i32 {
        let slots = &mut self.slots;
        let index = *self
            .indexes
            .entry((row, created_by))
            .or_insert_with_key(|(row, _)| {
                slots.push(Slot {
                    row: row.clone(),
                    is_created: created_by.is_some(),
                    mode,
                });
                slots.len() - 1
            });
        if let Some(slot) = slots.get_mut(index) {
            slot.mode = slot.mode.max(mode);
        }
        slot(index)
    }

    fn change(&mut self, index: usize, change: Change) {
        if let Some(changes) = self.changes.get_mut(index) {
            changes.push(change);
        }
    }

    /// Returns all rows in the order of their slots, and the changes of each commit. A removal also
    /// deletes the rows of its streams; the database finds those that no commit names.
    pub(crate) fn finish(mut self, columns: &Columns) -> (Vec<Slot>, Vec<Vec<Change>>) {
        let mut of_streams: HashMap<StreamNumber, Vec<i32>> = HashMap::new();
        if !columns.m_commit.is_empty() {
            for (
                index,
                Slot {
                    row, is_created, ..
                },
            ) in self.slots.iter().enumerate()
            {
                if row.kind.goes_with_stream() && !is_created {
                    of_streams.entry(row.stream).or_default().push(slot(index));
                }
            }
        }
        for (commit, stream) in columns.m_commit.iter().zip(&columns.m_slot) {
            let index = |slot: i32| usize::try_from(slot - 1).unwrap_or(usize::MAX);
            let number = columns.s_number.get(index(*stream)).copied().unwrap_or(0);
            let rows = of_streams.get(&StreamNumber(uncount(number)));
            if let Some(changes) = self.changes.get_mut(index(*commit)) {
                let deletions = rows.into_iter().flatten().map(|row| deletion(*row));
                // Before the rows that the removal itself puts.
                changes.splice(0..0, deletions);
            }
        }
        (self.slots, self.changes)
    }
}

fn deletion(row: i32) -> Change {
    Change {
        row,
        ..Change::default()
    }
}

/// The mode of a row: `own` if the lock of the commit's stream protects it.
fn mode(commit: &Commit, row: &StoredKey, own: i16) -> i16 {
    let is_own = match commit {
        Commit::Remove(commit) => commit.streams.contains(&row.stream),
        _ => commit.stream() == Some(row.stream),
    };
    match row.kind.is_shared() || !is_own {
        true => LOCKED,
        false => own,
    }
}
