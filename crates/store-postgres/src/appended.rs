//! What the database answers about plain appends that took effect without being judged: from which record on, and no more.

use everstep_model::RecordNumber;
use everstep_store::{Commit, Outcome, Target};
use tokio_postgres::Row as Line;

use crate::answer::list;
use crate::number::{place, uncount};

pub(crate) struct Appended {
    /// By place, and only in answers to earlier calls.
    numbers: Vec<i64>,
    /// Among the plain appends of the call, from 1 and in any order.
    places: Vec<i32>,
    firsts: Vec<i64>,
}

impl Appended {
    /// From the columns that begin here.
    pub(crate) fn read(line: &Line, at: usize) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            numbers: list(line, at)?,
            places: list(line, at + 1)?,
            firsts: list(line, at + 2)?,
        })
    }

    /// The first records of a call's plain appends, by place; none where one did not simply take effect.
    pub(crate) fn by_place(&self) -> Vec<Option<RecordNumber>> {
        let last = self.places.iter().max().copied().unwrap_or(0);
        let mut firsts = vec![None; usize::try_from(last).unwrap_or(0)];
        for (place, first) in self.places.iter().zip(&self.firsts) {
            let at = usize::try_from(*place - 1).unwrap_or(usize::MAX);
            if let Some(slot) = firsts.get_mut(at) {
                *slot = Some(RecordNumber(uncount(*first)));
            }
        }
        firsts
    }

    /// The first record of the append that was sent under this number in an earlier call.
    pub(crate) fn first_of(&self, number: i64) -> Option<RecordNumber> {
        let at = self.numbers.iter().position(|n| *n == number)?;
        let at = self.places.iter().position(|p| *p == place(at))?;
        let first = self.firsts.get(at).copied()?;
        Some(RecordNumber(uncount(first)))
    }
}

/// The outcome of an append that took effect.
pub(crate) fn outcome(commit: &Commit, first: RecordNumber) -> Option<Outcome> {
    let Target::Stream(stream) = commit.target else {
        return None;
    };
    Some(Outcome::Committed {
        stream,
        first,
        before: Vec::new(),
        taken: None,
    })
}
