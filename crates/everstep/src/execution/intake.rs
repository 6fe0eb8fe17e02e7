//! What an executor hears: answers to its appends, and what others did to its run.

use everstep_engine::{Message, Then};
use everstep_model::{Entry, Record, RecordNumber};

use super::conclusion::Conclusion;
use super::executor::{Executor, Leave, Next, Standing};
use super::writing::is_progress;

/// For how many unsent records an executor keeps room.
const ROOM_KEPT: usize = 16;

impl Executor {
    pub(super) fn take_in(&mut self, message: Message) -> Next {
        match message {
            Message::Appended {
                first,
                before,
                records,
            } => return self.appended(first, before, records),
            Message::Missed { came, records } => self.missed(came, records),
            Message::Grew => self.read_on(),
            Message::Resumed => {
                self.standing = Standing::CatchingUp;
                self.conclusion = None;
                self.read_on();
            }
            Message::Lost => return Next::Exit,
            // It may come before the news of the suspension it follows.
            Message::Evict => self.leave = self.leave.max(Leave::WhenSuspended),
            Message::Stop => self.leave = self.leave.max(Leave::Soon),
        }
        self.leave_if_suspended()
    }

    fn leave_if_suspended(&self) -> Next {
        if self.standing == Standing::Suspended && self.leave != Leave::Not {
            Next::Exit
        } else {
            Next::GoOn
        }
    }

    /// What was decided in ignorance of what came is decided again.
    fn missed(&mut self, came: Vec<Entry>, mut records: Vec<Record>) {
        if let Some(Conclusion::RollBack(_)) = self.conclusion.take() {
            self.shared.state().replay.retract_rollback();
        }
        if let Some(in_flight) = self.in_flight.take() {
            if in_flight.decides {
                records.pop();
            }
            // What must be durable before the code goes on still must.
            self.strict |= !records.is_empty();
            self.unsent.splice(0..0, records);
            let mut state = self.shared.state();
            state.replay.put_back_obsolete(in_flight.obsolete);
            state.replay.put_back_left_children(in_flight.left);
        }
        self.extend_foreign(came);
    }

    fn appended(
        &mut self,
        first: RecordNumber,
        before: Vec<Entry>,
        mut records: Vec<Record>,
    ) -> Next {
        let Some(in_flight) = self.in_flight.take() else {
            return Next::GoOn;
        };
        if self.activation.cautious && records.iter().any(is_progress) {
            self.activation.cautious = false;
            self.shared.state().replay.set_cautious(false);
        }
        let own = records.drain(..).enumerate().map(|(index, record)| Entry {
            number: first.plus(index),
            record,
        });
        self.extend(before.into_iter().chain(own));
        // The next step writes as many.
        if self.unsent.is_empty() && records.capacity() <= ROOM_KEPT {
            self.unsent = records;
        }
        match in_flight.then {
            Then::Continue | Then::GoOnAs(_) => {
                // The execution begins again, from what the journal holds.
                let concluded = self.conclusion.take();
                if let Some(Conclusion::Retry(_) | Conclusion::Halted(_)) = concluded {
                    self.begin_again();
                }
                Next::GoOn
            }
            Then::Suspend(_) => {
                self.standing = Standing::Suspended;
                self.leave_if_suspended()
            }
            Then::Park(_) | Then::Release | Then::Abandon | Then::End(_) | Then::EndAnyway(_) => {
                Next::Exit
            }
        }
    }
}
