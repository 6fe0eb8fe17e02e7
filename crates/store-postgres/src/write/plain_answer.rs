//! The answer of the database about plain commits: which of them were applied.

use std::collections::HashSet;

use everstep_model::{Epoch, RecordNumber, StreamNumber};
use everstep_store::{Claim, Commit, Fence, LeaseChange, Outcome, Refusal};
use tokio_postgres::Row as Line;

use crate::write::placed::{Placed, label};

/// What the database says about plain commits.
pub(crate) struct PlainAnswer {
    /// The numbers of the appends that took effect; none if all did.
    done: Option<HashSet<i64>>,
    /// By place: the numbers that births got, or, below zero, those that their names have.
    born: Vec<i64>,
}

impl PlainAnswer {
    /// About nothing: all is left to be judged.
    pub(crate) fn nothing() -> Self {
        Self {
            done: Some(HashSet::new()),
            born: Vec::new(),
        }
    }

    /// About a batch of steps.
    pub(crate) fn of_steps(line: &Line) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            done: numbers(line, 0)?,
            born: Vec::new(),
        })
    }

    /// From the two columns that begin here.
    pub(crate) fn read(line: &Line, at: usize) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            done: numbers(line, at)?,
            born: line.try_get(at + 1)?,
        })
    }

    /// The outcome of an append; none if it is left to be judged.
    pub(crate) fn of_append(&self, placed: Placed<'_>) -> Option<Outcome> {
        let done = self.done.as_ref();
        let took_effect = done.is_none_or(|done| done.contains(&label(placed)));
        match placed.1 {
            Commit::Append(append) if took_effect => Some(Outcome::Committed {
                stream: append.stream,
                // Where its executor expected it.
                first: append.executor.seen,
                before: Vec::new(),
                taken: None,
            }),
            _ => None,
        }
    }

    /// The outcome of a birth; none if it is left to be judged.
    pub(crate) fn of_birth(&self, place: usize, commit: &Commit) -> Option<Outcome> {
        let number = *self.born.get(place)?;
        let stream = StreamNumber(number.unsigned_abs());
        if number < 0 {
            return Some(Outcome::Refused(Refusal::Exists(stream)));
        }
        let taken = match commit.lease() {
            LeaseChange::Claim(Claim { nonce, .. }) => Some(Fence {
                epoch: Epoch(1),
                nonce,
            }),
            _ => None,
        };
        Some(Outcome::Committed {
            stream,
            first: RecordNumber(0),
            before: Vec::new(),
            taken,
        })
    }
}

fn numbers(line: &Line, at: usize) -> Result<Option<HashSet<i64>>, tokio_postgres::Error> {
    let numbers: Option<Vec<i64>> = line.try_get(at)?;
    Ok(numbers.map(|numbers| numbers.into_iter().collect()))
}
