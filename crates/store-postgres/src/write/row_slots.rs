//! The rows that a batch touches, each listed once.

use std::collections::HashMap;

use everstep_model::StreamNumber;
use everstep_store::{Commit, CommitTime, Row, SharedRow};

use crate::number::{place, uncount};
use crate::schema::row_place::{RowPlace, contents, expected_contents};
use crate::write::columns::Columns;

/// The row is only written.
const BLIND: i16 = 0;
/// The row is read; the lock of its stream protects it.
const READ: i16 = 1;
/// The row is read and locked: commits of other streams write it too.
const LOCKED: i16 = 2;

/// The place is given by the row.
const GIVEN: i16 = 0;
/// The place is the number of the commit's stream.
const NUMBER: i16 = 1;
/// The place is where the stream ends after the commit.
const END: i16 = 2;
/// The place is the time of the commit.
const TIME: i16 = 3;

/// A row that is touched.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) row: RowPlace,
    /// Whether it belongs to a stream that the batch creates, which has no number yet.
    pub(crate) is_created: bool,
    pub(crate) mode: i16,
}

/// What a commit does to a row.
#[derive(Debug)]
pub(crate) struct Change {
    /// Its place.
    pub(crate) row: i32,
    /// What happens to it.
    pub(crate) what: RowChange,
}

#[derive(Debug)]
pub(crate) enum RowChange {
    Put(Put),
    Delete,
    /// Deletes the row if it has this value and place.
    DeleteExact(Vec<u8>, Option<i64>),
}

#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) value: Vec<u8>,
    pub(crate) place: Option<i64>,
    pub(crate) placing: i16,
}

pub(crate) struct RowSlots {
    slots: Vec<Slot>,
    /// By row, and by the commit that creates its stream.
    places: HashMap<(RowPlace, Option<usize>), usize>,
    /// By commit: deletions, then puts.
    changes: Vec<Vec<Change>>,
}

impl RowSlots {
    pub(crate) fn new(commits: usize) -> Self {
        let mut changes = Vec::new();
        changes.resize_with(commits, Vec::new);
        Self {
            slots: Vec::new(),
            places: HashMap::new(),
            changes,
        }
    }

    /// A row that the judgement reads.
    pub(crate) fn looked_at(&mut self, commit: &Commit, row: RowPlace) -> i32 {
        let mode = mode(commit, &row, READ);
        self.slot(row, None, mode)
    }

    /// A row of the stream that a commit creates.
    pub(crate) fn created(&mut self, index: usize, row: RowPlace) -> i32 {
        self.slot(row, Some(index), BLIND)
    }

    pub(crate) fn delete(&mut self, index: usize, commit: &Commit, row: RowPlace) {
        let mode = mode(commit, &row, BLIND);
        let row = self.slot(row, None, mode);
        let what = RowChange::Delete;
        self.change(index, Change { row, what });
    }

    pub(crate) fn delete_exact(&mut self, index: usize, commit: &Commit, row: &SharedRow) {
        let row = Row::Shared(row.clone());
        let (value, place) = expected_contents(&row);
        let row = self.looked_at(commit, RowPlace::of(&row.key()));
        let what = RowChange::DeleteExact(value, place);
        self.change(index, Change { row, what });
    }

    pub(crate) fn put(&mut self, index: usize, commit: &Commit, row: &Row) {
        let (value, given) = contents(row);
        let mut at = RowPlace::of(&row.key());
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
        let slot = if is_own && commit.created().is_some() {
            at.stream = StreamNumber(0);
            self.created(index, at)
        } else {
            if let Some(number) = commit.stream().filter(|_| is_own) {
                at.stream = number;
            }
            let mode = mode(commit, &at, BLIND);
            self.slot(at, None, mode)
        };
        let what = RowChange::Put(Put {
            value,
            place: given,
            placing,
        });
        self.change(index, Change { row: slot, what });
    }

    fn slot(&mut self, row: RowPlace, created: Option<usize>, mode: i16) -> i32 {
        let slots = &mut self.slots;
        let at = self
            .places
            .entry((row, created))
            .or_insert_with_key(|(row, _)| {
                slots.push(Slot {
                    row: row.clone(),
                    is_created: created.is_some(),
                    mode,
                });
                slots.len() - 1
            });
        if let Some(slot) = slots.get_mut(*at) {
            slot.mode = slot.mode.max(mode);
        }
        place(*at)
    }

    fn change(&mut self, index: usize, change: Change) {
        if let Some(changes) = self.changes.get_mut(index) {
            changes.push(change);
        }
    }

    /// All rows in the order of their places, and what each commit does to them. A removal also
    /// deletes the rows of its streams; the database finds those that no commit names.
    pub(crate) fn finish(mut self, columns: &Columns) -> (Vec<Slot>, Vec<Vec<Change>>) {
        let mut below: HashMap<StreamNumber, Vec<i32>> = HashMap::new();
        if !columns.m_commit.is_empty() {
            for (at, slot) in self.slots.iter().enumerate() {
                if slot.row.kind.goes_with_stream() && !slot.is_created {
                    below.entry(slot.row.stream).or_default().push(place(at));
                }
            }
        }
        for (commit, slot) in columns.m_commit.iter().zip(&columns.m_slot) {
            let at = usize::try_from(*slot - 1).unwrap_or(usize::MAX);
            let number = columns.s_number.get(at).copied().unwrap_or(0);
            let rows = below.get(&StreamNumber(uncount(number)));
            let index = usize::try_from(*commit - 1).unwrap_or(usize::MAX);
            if let Some(changes) = self.changes.get_mut(index) {
                let gone = rows.into_iter().flatten();
                // Before those that the removal itself puts.
                changes.splice(
                    0..0,
                    gone.map(|row| Change {
                        row: *row,
                        what: RowChange::Delete,
                    }),
                );
            }
        }
        (self.slots, self.changes)
    }
}

fn mode(commit: &Commit, row: &RowPlace, own: i16) -> i16 {
    let is_own = match commit {
        Commit::Remove(commit) => commit.streams.contains(&row.stream),
        _ => commit.stream() == Some(row.stream),
    };
    if row.kind.is_shared() || !is_own {
        LOCKED
    } else {
        own
    }
}
