//! How records reach an activation: with the answer to an append, read after a hint, or read again
//! for another pass.

use everstep_model::{Body, Entry, RecordNumber};

use crate::action::{Action, ExecutionKind, ReadFor};
use crate::conclusion::Conclusion;
use crate::execution::Host;
use crate::history::History;
use crate::state::{Driver, EarlierPasses, Offered, Reading, Stage};

impl<H: Host> Driver<H> {
    pub(crate) fn read_on(&mut self) {
        match &mut self.reading {
            Reading::Tail { again } | Reading::Whole { again } => *again = true,
            Reading::Idle => {
                self.reading = Reading::Tail { again: false };
                let known = self.live.replay.position().known;
                self.queue.push_back(Action::Read(ReadFor::Fold, known));
            }
        }
    }

    /// Takes in the records that [`Action::Read`] requested.
    pub fn read(&mut self, purpose: ReadFor, entries: Vec<Entry>) {
        match purpose {
            ReadFor::Fold => self.read_journal(entries),
            ReadFor::Undos if self.undoing.earlier == EarlierPasses::Reading => {
                self.undoing.earlier = EarlierPasses::Read(entries);
            }
            ReadFor::Undos => {}
        }
    }

    /// Records that the journal could not be read.
    pub fn read_failed(&mut self, purpose: ReadFor) {
        match purpose {
            ReadFor::Fold => self.enter(Stage::Over),
            ReadFor::Undos if self.undoing.earlier == EarlierPasses::Reading => {
                // The journal is read again when the undo is still due.
                self.undoing.earlier = EarlierPasses::NotNeeded;
                if let Stage::Working = self.stage {
                    let release = self.conclude(Conclusion::Released);
                    self.queue.extend(release.unless_wait());
                }
            }
            ReadFor::Undos => {}
        }
    }

    fn read_journal(&mut self, entries: Vec<Entry>) {
        let again = match std::mem::replace(&mut self.reading, Reading::Idle) {
            Reading::Idle => return,
            Reading::Tail { again } => {
                self.extend_foreign(entries);
                again
            }
            Reading::Whole { again } => {
                if let Some(history) = &mut self.history {
                    *history = History::new(&entries);
                }
                self.replace_execution(entries);
                again
            }
        };
        if again {
            self.read_on();
        } else if self.reading.is_idle()
            && let Stage::CatchingUp = self.stage
        {
            self.enter(Stage::Working);
        }
    }

    /// Takes in records of others. The execution begins again if another node began a new pass, or
    /// went through a loop and dropped records that this one has not folded.
    pub(crate) fn extend_foreign(&mut self, entries: Vec<Entry>) {
        let is_retry = |entry: &Entry| matches!(entry.record.body, Body::ExecutionRetried(_));
        let known = self.live.replay.position().known;
        let mut new = entries.iter().filter(|entry| entry.number >= known);
        let mut next = known;
        let is_whole = new.all(|entry| {
            let follows = entry.number == next;
            next = entry.number.plus(1);
            follows
        });
        if !is_whole || entries.iter().any(is_retry) {
            self.restart();
        } else {
            self.extend(entries);
        }
    }

    pub(crate) fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        // A second look is at a decision that was made without these records.
        if let Stage::Looking(_) = self.stage {
            self.enter(Stage::Working);
            self.queue.push_back(Action::Drop(ExecutionKind::Dry));
        }
        let Some(history) = &mut self.history else {
            return self.live.replay.extend(entries);
        };
        let entries: Vec<Entry> = entries.into_iter().collect();
        history.extend(&entries);
        self.live.replay.extend(entries);
    }

    /// Discards the execution and reads the journal again.
    pub(crate) fn restart(&mut self) {
        self.drop_code();
        if self.current().1 == ExecutionKind::Dry {
            self.queue.push_back(Action::Drop(ExecutionKind::Dry));
        }
        if !matches!(self.stage, Stage::Suspended | Stage::CatchingUp) {
            self.enter(Stage::Working);
        }
        if std::mem::take(&mut self.undoing).attempt.is_some() {
            self.queue.push_back(Action::DropUndo);
        }
        self.unsent.clear();
        self.offered = Offered::default();
        if let Some(history) = &mut self.history {
            *history = History::new(&[]);
        }
        self.replace_execution(Vec::new());
        self.read_whole();
    }

    pub(crate) fn read_whole(&mut self) {
        self.reading = Reading::Whole { again: false };
        let read_all = Action::Read(ReadFor::Fold, RecordNumber(0));
        self.queue.push_back(read_all);
    }
}
