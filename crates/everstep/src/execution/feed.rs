//! How records reach an executor: handed over with an outcome, read on after a hint, or read anew for another pass.

use std::task::{Context, Poll};

use everstep_machine::Replay;
use everstep_model::{Body, Entry, RecordNumber};

use super::executor::{Executor, Next, Standing};
use super::rollback::Undoing;
use super::shared::Shared;

/// Drops from a journal what these records of it say is dropped.
pub(super) fn drop_as_named(journal: &mut Vec<Entry>, by: &[Entry]) {
    for entry in by {
        if let Body::LoopAdvanced(record) = &entry.record.body
            && !record.dropped.is_empty()
        {
            let gone = |number| {
                let mut ranges = record.dropped.iter();
                ranges.any(|range| (range.first..=range.last).contains(&number))
            };
            journal.retain(|entry| !gone(entry.number));
        }
    }
}

impl Executor {
    /// Takes in records of others. Where another node began a new pass, this one begins it too; where another one went
    /// through a loop and dropped what this one has not folded, it begins with what is left.
    pub(super) fn extend_foreign(&mut self, entries: Vec<Entry>) {
        let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
        let known = self.shared.state().replay.known();
        let mut new = entries.iter().filter(|entry| entry.number >= known);
        let mut next = known;
        let is_whole = new.all(|entry| {
            let follows = entry.number == next;
            next = entry.number.plus(1);
            follows
        });
        if !is_whole || entries.iter().any(is_retry) {
            self.begin_again();
        } else {
            self.extend(entries);
        }
    }

    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let Some(history) = &mut self.history else {
            return self.shared.state().replay.extend(entries);
        };
        let entries: Vec<Entry> = entries.into_iter().collect();
        let known = history.last().map(|last| last.number);
        let new = entries
            .iter()
            .filter(|entry| known.is_none_or(|known| entry.number > known));
        history.extend(new.cloned());
        drop_as_named(history, &entries);
        self.shared.state().replay.extend(entries);
    }

    pub(super) fn read_on(&mut self) {
        if self.reading.is_some() {
            self.read_again = true;
            return;
        }
        let known = self.shared.state().replay.known();
        self.reading = Some(self.activation.read(known));
    }

    /// Throws the execution away and reads the journal anew.
    pub(super) fn begin_again(&mut self) {
        self.drop_code();
        self.shared.forget_undos();
        self.returned = None;
        self.broken = None;
        self.undoing = Undoing::default();
        self.conclusion = None;
        self.unsent.clear();
        self.offered.clear();
        self.strict = false;
        let parts = self.shared.parts().clone();
        let replay = Replay::new(parts.run.clone(), parts.generation, Vec::new());
        self.shared = Shared::new(parts, replay);
        self.history = self.history.take().map(|_| Vec::new());
        self.reading = Some(self.activation.read(RecordNumber(0)));
        self.read_again = false;
    }

    pub(super) fn poll_reading(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        let Some(reading) = &mut self.reading else {
            return Poll::Pending;
        };
        let Poll::Ready(read) = reading.as_mut().poll(context) else {
            return Poll::Pending;
        };
        self.reading = None;
        match read {
            Ok(entries) => {
                let is_new_start = self.shared.state().replay.known() == RecordNumber(0);
                if is_new_start {
                    let parts = self.shared.parts().clone();
                    if let Some(history) = &mut self.history {
                        history.clone_from(&entries);
                    }
                    let replay = Replay::new(parts.run.clone(), parts.generation, entries);
                    self.shared = Shared::new(parts, replay);
                } else {
                    self.extend_foreign(entries);
                }
                let has_all = !self.read_again && self.reading.is_none();
                if has_all && self.standing == Standing::CatchingUp {
                    self.standing = Standing::Working;
                }
                if std::mem::take(&mut self.read_again) {
                    self.read_on();
                }
                Poll::Ready(Next::GoOn)
            }
            Err(error) => {
                tracing::error!(%error, run = %self.activation.run, "a journal could not be read on");
                Poll::Ready(Next::Exit)
            }
        }
    }
}
