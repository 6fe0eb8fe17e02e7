//! The task that connects one run to a session: it owns the activation and forwards messages in
//! both directions.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use everstep_engine::{Activation, Append, Message, Then};
use everstep_model::planted::{self, Bug};
use everstep_model::{Entry, RecordNumber};
use everstep_protocol::worker::{NewsWord, OneAnswer, WireEntry};
use everstep_store::{BoxFuture, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::pool::Pool;
use super::seat::{Command, PendingNews, RecordsRead, Seat, SeatState, is_last};

/// Executes a run by a session of the pool: the session with the most free slots, or the first that
/// claims it.
pub(super) async fn execute(pool: Arc<Pool>, mut activation: Activation) {
    let (commands, inbox) = mpsc::unbounded_channel();
    let pending = PendingNews {
        cautious: activation.cautious,
        words: Vec::new(),
    };
    let read = RecordsRead::default();
    read.add(&activation.journal);
    let seat = Seat {
        run: activation.run.clone(),
        generation: activation.generation,
        workflow: activation.workflow.clone(),
        version: activation.version,
        commands,
        read: read.clone(),
        state: SeatState::Queued(pending),
    };
    let number = pool.state().add(seat);
    let journal = std::mem::take(&mut activation.journal);
    // Queued runs drop their journals to save memory, and read them again when they are assigned.
    let is_assigned = pool.state().assign_or_queue(number);
    let journal = is_assigned.then_some(journal);
    let bridge = Bridge::new((pool, number), activation, read, journal);
    bridge.run(inbox).await;
}

struct Bridge {
    pool: Arc<Pool>,
    seat: u64,
    activation: Activation,
    read: RecordsRead,
    /// The number of appends that were answered, and the last answer.
    answered: u64,
    last: Option<OneAnswer>,
    in_flight: Option<InFlight>,
    /// Whether the session executes the run. A suspended run has no executor.
    executing: bool,
    /// The journal as of the claim, if the run was assigned to a session at once.
    journal: Option<Vec<Entry>>,
    /// The pending read of the journal for the session.
    reading: Option<Reading>,
    /// How the run must be given back to the engine.
    give_back: Option<Then>,
}

type Reading = BoxFuture<'static, Result<Vec<Entry>, StoreError>>;

struct InFlight {
    then: Then,
    sender: Sender,
}

/// The sender of an append.
enum Sender {
    /// The worker, which may have sent the append more than once.
    Worker(Vec<oneshot::Sender<OneAnswer>>),
    /// The bridge, to give the run back. An append of the worker must not receive its answer.
    Bridge,
}

#[derive(PartialEq)]
enum Next {
    Continue,
    End,
}

enum Input {
    Message(Message),
    Command(Command),
    Journal(Result<Vec<Entry>, StoreError>),
}

impl Bridge {
    fn new(
        (pool, seat): (Arc<Pool>, u64),
        activation: Activation,
        read: RecordsRead,
        journal: Option<Vec<Entry>>,
    ) -> Self {
        Self {
            pool,
            seat,
            activation,
            read,
            answered: 0,
            last: None,
            in_flight: None,
            executing: true,
            journal,
            reading: None,
            give_back: None,
        }
    }

    /// Forwards messages until the session no longer executes the run.
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        loop {
            let input = poll_fn(|context| {
                if let Poll::Ready(message) = self.activation.seat.poll_message(context) {
                    return Poll::Ready(Input::Message(message));
                }
                if let Poll::Ready(command) = commands.poll_recv(context) {
                    let closed = Command::GiveBack { as_lost: true };
                    return Poll::Ready(Input::Command(command.unwrap_or(closed)));
                }
                let reading = self.reading.as_mut();
                let read = reading.map(|reading| reading.as_mut().poll(context));
                read.unwrap_or(Poll::Pending).map(Input::Journal)
            });
            let next = match input.await {
                Input::Message(message) => self.on_message(message),
                Input::Command(command) => self.on_command(command),
                Input::Journal(read) => self.hand_over(read),
            };
            if next == Next::End {
                break;
            }
        }
        let was_given_back = self.give_back.is_some();
        let last = self.last.take().filter(|_| !was_given_back);
        self.answer_remaining(commands, last.as_ref());
        self.pool.execution_ended(self.seat, self.answered, last);
    }

    /// Answers queued appends. A repetition of the last append receives the same answer again.
    fn answer_remaining(
        &self,
        mut commands: mpsc::UnboundedReceiver<Command>,
        last: Option<&OneAnswer>,
    ) {
        commands.close();
        while let Ok(command) = commands.try_recv() {
            if let Command::Append { seq, reply, .. } = command {
                let repeated = last.filter(|_| seq == self.answered).cloned();
                let _ = reply.send(repeated.unwrap_or(OneAnswer::Lost));
            }
        }
    }

    fn on_message(&mut self, message: Message) -> Next {
        match message {
            Message::Appended {
                first,
                before,
                records,
            } => {
                self.read.up_to(first.plus(records.len()));
                let before = wire(before);
                return self.answer(OneAnswer::Appended { first, before }, true);
            }
            Message::Missed { came, .. } => {
                self.read.add(&came);
                let came = wire(came);
                return self.answer(OneAnswer::Missed { came }, false);
            }
            // An engine refuses no appends that this server has checked.
            Message::Lost | Message::Refused(_) => {
                if self.in_flight.is_some() {
                    self.answer(OneAnswer::Lost, false);
                }
                self.notify(NewsWord::Lost);
                return Next::End;
            }
            Message::Resumed => {
                self.executing = true;
                self.pool.resumed(self.seat);
                self.notify(NewsWord::Resumed);
            }
            Message::Grew => drop(self.notify(NewsWord::Grew)),
            Message::Evict => drop(self.notify(NewsWord::Evict)),
            Message::Stop => {
                if !self.notify(NewsWord::Stop) {
                    return self.on_command(Command::GiveBack { as_lost: false });
                }
            }
        }
        Next::Continue
    }

    /// Notifies the session. Returns false if no session has the run.
    fn notify(&self, word: NewsWord) -> bool {
        self.pool.notify(self.seat, word, self.answered)
    }

    fn answer(&mut self, answer: OneAnswer, is_written: bool) -> Next {
        let Some(in_flight) = self.in_flight.take() else {
            return Next::Continue;
        };
        self.answered += 1;
        if let Sender::Worker(replies) = in_flight.sender {
            for reply in replies {
                let _ = reply.send(answer.clone());
            }
        }
        self.last = Some(answer);
        if is_written && is_last(in_flight.then) {
            return Next::End;
        }
        if is_written && matches!(in_flight.then, Then::Suspend(_)) {
            self.executing = false;
            self.pool.suspended(self.seat);
        }
        self.give_back_if_requested()
    }

    fn on_command(&mut self, command: Command) -> Next {
        match command {
            Command::Append { seq, append, reply } => self.append(seq, append, reply),
            Command::Read { from, reply } => {
                let reading = self.activation.seat.read(from);
                let read = self.read.clone();
                let reading = async move {
                    let entries = reading.await;
                    read.add(entries.as_deref().unwrap_or_default());
                    let _ = reply.send(entries);
                };
                self.activation.seat.runtime().spawn(Box::pin(reading));
            }
            Command::HandOver => match self.journal.take() {
                Some(journal) => return self.hand_over(Ok(journal)),
                None => self.reading = Some(self.activation.seat.read(RecordNumber(0))),
            },
            Command::GiveBack { as_lost } => {
                self.give_back.get_or_insert(match as_lost {
                    true => Then::Abandon,
                    false => Then::Release,
                });
                return self.give_back_if_requested();
            }
        }
        Next::Continue
    }

    /// Hands the run and its journal to the session.
    fn hand_over(&mut self, read: Result<Vec<Entry>, StoreError>) -> Next {
        self.reading = None;
        match read {
            Ok(_) if self.give_back.is_some() => Next::Continue,
            Ok(journal) => {
                self.read.add(&journal);
                self.pool.hand_over(self.seat, journal);
                Next::Continue
            }
            Err(error) => {
                tracing::warn!(run = %self.activation.run, %error, "cannot read the journal, run not assigned to the worker");
                self.on_command(Command::GiveBack { as_lost: false })
            }
        }
    }

    /// Forwards the next append, and repeats the answer to the last one. Any other sequence number
    /// comes from a worker that has lost the run.
    fn append(
        &mut self,
        seq: u64,
        append: Result<Box<Append>, OneAnswer>,
        reply: oneshot::Sender<OneAnswer>,
    ) {
        let is_again = seq == self.answered && planted::is(Bug::AppendPassedOnAgain);
        let is_next = seq == self.answered + 1 || is_again;
        match &mut self.in_flight {
            Some(InFlight {
                sender: Sender::Worker(replies),
                ..
            }) if is_next => replies.push(reply),
            None if is_next && self.executing && self.give_back.is_none() => match append {
                Ok(append) => {
                    self.in_flight = Some(InFlight {
                        then: append.then,
                        sender: Sender::Worker(vec![reply]),
                    });
                    self.activation.seat.append(*append);
                }
                Err(refused) => {
                    self.answered += 1;
                    let _ = reply.send(refused.clone());
                    self.last = Some(refused);
                }
            },
            Some(_) | None => {
                let repeated = self.last.clone().filter(|_| seq == self.answered);
                let _ = reply.send(repeated.unwrap_or(OneAnswer::Lost));
            }
        }
    }

    /// Gives the run back once no append is in flight.
    fn give_back_if_requested(&mut self) -> Next {
        let Some(then) = self.give_back.filter(|_| self.in_flight.is_none()) else {
            return Next::Continue;
        };
        if !self.executing {
            return Next::End;
        }
        self.in_flight = Some(InFlight {
            then,
            sender: Sender::Bridge,
        });
        self.activation.seat.append(Append {
            records: Vec::new(),
            then,
            seen: RecordNumber(u64::MAX),
            inbox_seen: 0,
            progress: false,
            obsolete: Vec::new(),
            left: Vec::new(),
        });
        Next::Continue
    }
}

fn wire(entries: Vec<Entry>) -> Vec<WireEntry> {
    entries.into_iter().map(WireEntry).collect()
}

#[cfg(test)]
mod tests;
