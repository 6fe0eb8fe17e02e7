//! The answer of the database about plain commits: which of them were applied.

use std::collections::HashSet;

use everstep_model::{RecordNumber, StreamNumber};
use everstep_store::{Commit, Outcome, Refusal};
use tokio_postgres::{Error, Row as Line};

use crate::write::answer::taken;
use crate::write::plain::{BatchItem, label};

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

    /// Reads the answer of `plain_batch`, or that of `append_batch`, which creates nothing.
    pub(crate) fn read(line: &Line, is_steps: bool) -> Result<Self, Error> {
        let done: Option<Vec<i64>> = line.try_get("done")?;
        let created = match is_steps {
            true => Vec::new(),
            false => line.try_get("created")?,
        };
        Ok(Self {
            done: done.map(HashSet::from_iter),
            created,
        })
    }

    /// The outcome of an append; `None` if it must be judged.
    pub(crate) fn of_append(&self, item: BatchItem<'_>) -> Option<Outcome> {
        let done = self.done.as_ref();
        let took_effect = done.is_none_or(|done| done.contains(&label(item)));
        match item.1 {
            Commit::Append(append) if took_effect => Some(Outcome::Committed {
                stream: append.stream,
                first: append.executor.seen,
                before: Vec::new(),
                taken: None,
            }),
            _ => None,
        }
    }

    /// The outcome of a creation; `None` if it must be judged.
    pub(crate) fn of_creation(&self, at: usize, commit: &Commit) -> Option<Outcome> {
        let number = *self.created.get(at)?;
        let stream = StreamNumber(number.unsigned_abs());
        if number < 0 {
            return Some(Outcome::Refused(Refusal::Exists(stream)));
        }
        Some(Outcome::Committed {
            stream,
            first: RecordNumber(0),
            before: Vec::new(),
            taken: taken(commit, 1),
        })
    }
}
