//! Messages of the engine: answers to appends, and what others wrote to the journal.

use everstep_machine::Attempts;
use everstep_model::{Entry, Failure, Record, RecordNumber, RunStatus};

use crate::action::Action;
use crate::append::Then;
use crate::execution::Host;
use crate::message::Message;
use crate::state::{Driver, Leave, OnAnswer, Stage};
use crate::unsent::is_progress;

impl<H: Host> Driver<H> {
    /// Takes in a message. What follows from it are the next actions.
    pub fn receive(&mut self, message: Message) {
        if let Stage::Over = self.stage {
            return;
        }
        match message {
            Message::Appended {
                first,
                before,
                records,
            } => self.appended(first, before, records),
            Message::Missed { came, records } => self.missed(came, records),
            Message::Refused(reason) => self.refused(*reason),
            Message::Grew => self.read_on(),
            Message::Resumed => {
                self.enter(Stage::CatchingUp);
                self.read_on();
            }
            Message::Lost => self.enter(Stage::Over),
            // It may arrive before the answer to the suspension.
            Message::Evict => self.leave = self.leave.max(Leave::WhenSuspended),
            Message::Stop => {
                self.leave = Leave::Soon;
                self.live.replay.set_attempts(Attempts::Ending);
            }
        }
        if let Stage::Suspended = self.stage
            && self.leave != Leave::No
        {
            self.enter(Stage::Over);
        }
    }

    /// Takes in the refusal of an append. The decision was made without these records, and is made
    /// again.
    fn missed(&mut self, came: Vec<Entry>, mut records: Vec<Record>) {
        match self.stage {
            Stage::Concluding(on_answer) => {
                self.enter(Stage::Working);
                if on_answer == OnAnswer::ContinueRollback {
                    self.live.replay.rollback().retract();
                }
            }
            Stage::DecidingAgain => self.enter(Stage::Working),
            _ => {}
        }
        if let Some(in_flight) = self.append.take()
            // Otherwise the records are those of an execution that was thrown away.
            && !self.reading.is_whole()
        {
            if in_flight.decides {
                records.pop();
            }
            self.unsent.put_back(records);
            let outgoing = self.live.replay.outgoing();
            outgoing.put_back(in_flight.obsolete, in_flight.left);
        }
        self.extend_foreign(came);
    }

    /// Takes in that an append may not be written. Later records could depend on it, so nothing but
    /// the reason is written. If that is refused too, the activation gives up.
    fn refused(&mut self, reason: Failure) {
        self.append = None;
        if std::mem::replace(&mut self.is_refused, true) {
            return self.enter(Stage::Over);
        }
        if std::mem::take(&mut self.undoing).attempt.is_some() {
            self.queue.push_back(Action::DropUndo);
        }
        self.unsent.clear();
        let outgoing = self.live.replay.outgoing();
        drop(outgoing.take_records());
        drop((outgoing.take_obsolete(), outgoing.take_left_children()));
        self.drop_code();
        self.live.replay.halt_refused(reason);
        self.enter(Stage::Working);
    }

    fn appended(&mut self, first: RecordNumber, before: Vec<Entry>, mut records: Vec<Record>) {
        let Some(in_flight) = self.append.take() else {
            return;
        };
        if self.setup.cautious && records.iter().any(is_progress) {
            self.setup.cautious = false;
            self.live.replay.set_attempts(Attempts::AtOnce);
        }
        let own = records.drain(..).enumerate().map(|(index, record)| Entry {
            number: first.plus(index),
            record,
        });
        if self.reading.is_whole() {
            // The journal that is being read may end before these records.
            self.read_whole();
        } else {
            self.extend(before.into_iter().chain(own));
            self.unsent.reuse(records);
        }
        if let Then::GoOnAs(status) | Then::Suspend(status) = in_flight.then {
            self.undoing.is_shown = Some(status == RunStatus::RollingBack);
        }
        match in_flight.then {
            Then::Continue | Then::GoOnAs(_) => match self.stage {
                Stage::Concluding(OnAnswer::Restart) => {
                    self.enter(Stage::Working);
                    self.restart();
                }
                Stage::Concluding(_) | Stage::DecidingAgain => self.enter(Stage::Working),
                _ => {}
            },
            Then::Suspend(_) => self.enter(Stage::Suspended),
            Then::Park(_) | Then::Release | Then::Abandon | Then::End(_) | Then::EndAnyway(_) => {
                self.enter(Stage::Over);
            }
        }
    }
}
