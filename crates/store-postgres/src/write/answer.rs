//! The answer of the database about judged commits: a verdict each, and data that some verdicts
//! include.

use std::collections::HashMap;

use bytes::Bytes;
use everstep_model::{Entry, Epoch, Interner, RecordNumber, StreamNumber, Timestamp};
use everstep_store::{Claim, Commit, Fence, Guard, LeaseChange, Outcome, Refusal, StoreError};
use tokio_postgres::Row as Line;

use crate::failure::unreadable_frame;
use crate::number::{count, slot, uncount};
use crate::schema::frames::{Gaps, StoredFrames};
use crate::schema::rows::decode;

/// The columns of the type `answer` in `sql/tables.sql`.
pub(crate) const COLUMNS: &str = "numbers, kinds, streams, firsts, epochs, row_commits, row_guards, row_values, \
    row_places, frame_commits, frame_firsts, frame_bytes, gap_commits, gap_lowers, gap_uppers";

const ANSWERED_BEFORE: i16 = -1;
const BUSY: i16 = 0;

/// The answer to this call or to an earlier one.
pub(crate) struct Answer {
    numbers: Vec<i64>,
    kinds: Vec<i16>,
    streams: Vec<i64>,
    firsts: Vec<i64>,
    epochs: Vec<i64>,
    /// By slot of the commit: the index of the guard that found a row, and the row's value and
    /// place.
    rows: HashMap<i32, (usize, Vec<u8>, Option<i64>)>,
    frames: HashMap<i32, Vec<StoredFrames>>,
    gaps: HashMap<i32, Gaps>,
}

impl Answer {
    fn read(line: &Line) -> Result<Self, tokio_postgres::Error> {
        let column = |name| list::<i32>(line, name);
        let values = list::<Vec<u8>>(line, "row_values")?.into_iter();
        let values = values.zip(list::<Option<i64>>(line, "row_places")?);
        let guards = column("row_commits")?
            .into_iter()
            .zip(column("row_guards")?);
        let rows = guards.zip(values).map(|((commit, guard), (value, place))| {
            let guard = usize::try_from(guard).unwrap_or(usize::MAX);
            (commit, (guard, value, place))
        });
        let mut frames: HashMap<i32, Vec<StoredFrames>> = HashMap::new();
        let stored = list::<i64>(line, "frame_firsts")?.into_iter();
        let stored = stored.zip(list::<Vec<u8>>(line, "frame_bytes")?);
        for (commit, (first, bytes)) in column("frame_commits")?.into_iter().zip(stored) {
            frames.entry(commit).or_default().push(StoredFrames {
                first: RecordNumber(uncount(first)),
                bytes: Bytes::from(bytes),
            });
        }
        let mut gaps: HashMap<i32, Gaps> = HashMap::new();
        let bounds = list::<i64>(line, "gap_lowers")?.into_iter();
        let bounds = bounds.zip(list::<i64>(line, "gap_uppers")?);
        for (commit, (lower, upper)) in column("gap_commits")?.into_iter().zip(bounds) {
            gaps.entry(commit).or_default().push(lower, upper);
        }
        Ok(Self {
            numbers: list(line, "numbers")?,
            kinds: list(line, "kinds")?,
            streams: list(line, "streams")?,
            firsts: list(line, "firsts")?,
            epochs: list(line, "epochs")?,
            rows: rows.collect(),
            frames,
            gaps,
        })
    }

    /// Returns the outcome of the commit at this position, or `None` if its stream was busy.
    fn outcome(&self, at: usize, commit: &Commit) -> Option<Outcome> {
        let kind = self.kinds.get(at).copied().unwrap_or(BUSY);
        let created = || StreamNumber(of(&self.streams, at));
        let stream = commit.stream().unwrap_or_else(created);
        let first = RecordNumber(of(&self.firsts, at));
        let refusal = match kind {
            1 | 3 | 4 => {
                let before = match self.records(at, stream, seen(commit, first), first) {
                    Ok(before) => before,
                    // The commit is applied, but the records before it cannot be read. Reading the
                    // journal fails in the same way.
                    Err(error) => return Some(Outcome::Refused(Refusal::Unreadable(error))),
                };
                return Some(if kind != 3 {
                    Outcome::Committed {
                        stream,
                        first,
                        before,
                        taken: taken(commit, of(&self.epochs, at)),
                    }
                } else {
                    Outcome::Duplicate {
                        stream,
                        first,
                        before,
                    }
                });
            }
            10 => Refusal::Exists(StreamNumber(first.0)),
            11 => Refusal::NoStream,
            12 => Refusal::Closed,
            13 => Refusal::Open,
            14 => Refusal::Superseded,
            15 => Refusal::EndsElsewhere(first),
            16 => Refusal::Fenced,
            17 => Refusal::OutOfOrder,
            18 => Refusal::NotInbox,
            19 => match self.records(at, stream, seen(commit, first), first) {
                Ok(missed) => Refusal::InboxGrew { missed },
                Err(error) => Refusal::Unreadable(error),
            },
            20 => Refusal::TooManyEvents(first.0),
            21 => self.shown(at, commit),
            22 => Refusal::RowAbsent,
            23 => Refusal::RowChanged,
            24 => Refusal::TooEarly(Timestamp::from_millis(first.0)),
            _ => return None,
        };
        Some(Outcome::Refused(refusal))
    }

    fn records(
        &self,
        at: usize,
        stream: StreamNumber,
        from: RecordNumber,
        end: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        let commit = slot(at);
        let mut entries = Vec::new();
        let mut interner = Interner::default();
        for frame in self.frames.get(&commit).into_iter().flatten() {
            frame
                .entries(from, end, &mut interner, &mut entries)
                .map_err(|error| unreadable_frame(stream, &error))?;
        }
        if let Some(gaps) = self.gaps.get(&commit) {
            gaps.leave_out(&mut entries);
        }
        Ok(entries)
    }

    /// The refusal of a guard, with the row that it found.
    fn shown(&self, at: usize, commit: &Commit) -> Refusal {
        let found = self.rows.get(&slot(at));
        let found = found.and_then(|(guard, value, place)| {
            let Some(Guard::RowAbsent(key)) = commit.guards().get(*guard) else {
                return None;
            };
            Some(decode(key, value, *place))
        });
        match found {
            Some(Ok(row)) => Refusal::RowPresent(Box::new(row)),
            Some(Err(error)) => Refusal::Unreadable(error),
            None => Refusal::RowChanged,
        }
    }
}

/// The answer to a call, and those to earlier calls that it refers to.
#[derive(Default)]
pub(crate) struct Answers(Vec<Answer>);

impl Answers {
    pub(crate) fn read(lines: &[Line]) -> Result<Self, tokio_postgres::Error> {
        Ok(Self(
            lines.iter().map(Answer::read).collect::<Result<_, _>>()?,
        ))
    }

    /// Returns the outcome of the commit at this position of the call, or `None` if its stream was
    /// busy.
    pub(crate) fn outcome(&self, at: usize, commit: &Commit) -> Option<Outcome> {
        let (now, before) = self.0.split_first()?;
        if now.kinds.get(at) != Some(&ANSWERED_BEFORE) {
            return now.outcome(at, commit);
        }
        let number = count(commit.id()?.number);
        before.iter().find_map(|answer| {
            let at = answer.numbers.iter().position(|n| *n == number)?;
            answer.outcome(at, commit)
        })
    }
}

/// Returns the fence of the claim that a commit made in this epoch. Epoch 0 means that it made
/// none.
pub(crate) fn taken(commit: &Commit, epoch: u64) -> Option<Fence> {
    match commit.lease() {
        LeaseChange::Claim(Claim { nonce, .. }) if epoch > 0 => Some(Fence {
            epoch: Epoch(epoch),
            nonce,
        }),
        _ => None,
    }
}

/// The number of records that the author has seen. Only executors can have missed some.
fn seen(commit: &Commit, end: RecordNumber) -> RecordNumber {
    commit.executor().map_or(end, |executor| executor.seen)
}

fn of(values: &[i64], at: usize) -> u64 {
    uncount(values.get(at).copied().unwrap_or(0))
}

/// Reads a column of an answer. Columns that are not needed are null.
fn list<'a, T>(line: &'a Line, column: &str) -> Result<Vec<T>, tokio_postgres::Error>
where
    Option<Vec<T>>: tokio_postgres::types::FromSql<'a>,
{
    let found: Option<Vec<T>> = line.try_get(column)?;
    Ok(found.unwrap_or_default())
}
