//! The answer of the database about plain commits: which of them were applied.

use std::collections::HashSet;

use everstep_model::{Epoch, RecordNumber, StreamNumber};
use everstep_store::{Claim, Commit, Fence, LeaseChange, Outcome, Refusal};
use tokio_postgres::Row as Line;

use crate::write::batch_item::{BatchItem, label};

/// What the database says about plain commits.
pub(crate) struct PlainAnswer {
    /// The numbers of the appends that took effect; `None` if all did.
    done: Option<HashSet<i64>>,
    /// By position: the numbers of created streams, or, negated, of existing ones with their names.
    created: Vec<i64>,
}

impl PlainAnswer {
    /// No commit was applied: all must be judged.
    pub(crate) fn nothing() -> Self {
        Self {
            done: Some(HashSet::new()),
            created: Vec::new(),
        }
    }

    /// The answer of `append_batch`.
    pub(crate) fn of_steps(line: &Line) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            done: numbers(line, 0)?,
            created: Vec::new(),
        })
    }

    /// The answer of `plain_batch`, in two columns from `at` on.
    pub(crate) fn read(line: &Line, at: usize) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            done: numbers(line, at)?,
            created: line.try_get(at + 1)?,
        })
    }

    /// The outcome of an append; `None` if it must be judged.
    pub(crate) fn of_append(&self, item: BatchItem<'_>) -> Option<Outcome> {
        let done = self.done.as_ref();
        let took_effect = done.is_none_or(|done| done.contains(&label(item)));
        match item.1 {
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

    /// The outcome of a creation; `None` if it must be judged.
    pub(crate) fn of_creation(&self, place: usize, commit: &Commit) -> Option<Outcome> {
        let number = *self.created.get(place)?;
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
