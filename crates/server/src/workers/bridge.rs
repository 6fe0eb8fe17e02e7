//! The task that executes one run by a session: it has the activation, and passes on what either side says.

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
use super::seat::{Order, is_last};

pub(super) struct Bridge {
    pool: Arc<Pool>,
    seat: u64,
    activation: Activation,
    /// Appends that were answered, and what the last was answered.
    answered: u64,
    last: Option<OneAnswer>,
    in_flight: Option<InFlight>,
    /// Whether the run is this executor's; a suspended one is nobody's.
    executing: bool,
    /// The journal as it was when the run came, if it is for a session already.
    journal: Option<Vec<Entry>>,
    /// The journal, on its way to the session.
    reading: Option<Reading>,
    /// Whether it is to be given back, and whether because its executor is lost.
    give_back: Option<bool>,
}

type Reading = BoxFuture<'static, Result<Vec<Entry>, StoreError>>;

/// An append under way.
struct InFlight {
    then: Then,
    by: By,
}

/// Who made an append.
enum By {
    /// The worker, who may have sent it twice.
    Worker(Vec<oneshot::Sender<OneAnswer>>),
    /// The bridge itself, to give the run back. What the worker sends now is not this.
    Bridge,
}

/// Whether the bridge is needed any longer.
#[derive(PartialEq)]
enum Next {
    GoOn,
    End,
}

enum Came {
    Message(Message),
    Order(Order),
    Journal(Result<Vec<Entry>, StoreError>),
}

impl Bridge {
    pub(super) fn new(
        pool: Arc<Pool>,
        seat: u64,
        activation: Activation,
        journal: Option<Vec<Entry>>,
    ) -> Self {
        Self {
            pool,
            seat,
            activation,
            answered: 0,
            last: None,
            in_flight: None,
            executing: true,
            journal,
            reading: None,
            give_back: None,
        }
    }

    /// Passes on until the run is not executed by this session any more.
    pub(super) async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        loop {
            let came = poll_fn(|context| {
                if let Poll::Ready(message) = self.activation.poll_message(context) {
                    return Poll::Ready(Came::Message(message));
                }
                if let Poll::Ready(order) = orders.poll_recv(context) {
                    let gone = Order::GiveBack { as_lost: true };
                    return Poll::Ready(Came::Order(order.unwrap_or(gone)));
                }
                let reading = self.reading.as_mut();
                let read = reading.map(|reading| reading.as_mut().poll(context));
                read.unwrap_or(Poll::Pending).map(Came::Journal)
            });
            let next = match came.await {
                Came::Message(message) => self.hear(message),
                Came::Order(order) => self.obey(order),
                Came::Journal(read) => self.bring(read),
            };
            if next == Next::End {
                break;
            }
        }
        let was_given_back = self.give_back.is_some();
        let last = self.last.take().filter(|_| !was_given_back);
        self.answer_the_rest(orders, last.as_ref());
        self.pool.execution_over(self.seat, self.answered, last);
    }

    /// What was sent again while it was under way is answered as it was.
    fn answer_the_rest(
        &self,
        mut orders: mpsc::UnboundedReceiver<Order>,
        last: Option<&OneAnswer>,
    ) {
        orders.close();
        while let Ok(order) = orders.try_recv() {
            if let Order::Append { seq, reply, .. } = order {
                let repeated = last.filter(|_| seq == self.answered).cloned();
                let _ = reply.send(repeated.unwrap_or(OneAnswer::Lost));
            }
        }
    }

    fn hear(&mut self, message: Message) -> Next {
        match message {
            Message::Appended { first, before, .. } => {
                let before = wire(before);
                return self.answer(OneAnswer::Appended { first, before }, true);
            }
            Message::Missed { came, .. } => {
                let came = wire(came);
                return self.answer(OneAnswer::Missed { came }, false);
            }
            Message::Lost => {
                if self.in_flight.is_some() {
                    self.answer(OneAnswer::Lost, false);
                }
                self.tell(NewsWord::Lost);
                return Next::End;
            }
            Message::Resumed => {
                self.executing = true;
                self.pool.resumed(self.seat);
                self.tell(NewsWord::Resumed);
            }
            Message::Grew => drop(self.tell(NewsWord::Grew)),
            Message::Evict => drop(self.tell(NewsWord::Evict)),
            Message::Stop => {
                if !self.tell(NewsWord::Stop) {
                    return self.obey(Order::GiveBack { as_lost: false });
                }
            }
        }
        Next::GoOn
    }

    /// Tells the session; false if no session has the run.
    fn tell(&self, word: NewsWord) -> bool {
        self.pool.tell(self.seat, word, self.answered)
    }

    fn answer(&mut self, answer: OneAnswer, is_written: bool) -> Next {
        let Some(in_flight) = self.in_flight.take() else {
            return Next::GoOn;
        };
        self.answered += 1;
        if let By::Worker(replies) = in_flight.by {
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
        self.give_back_if_asked()
    }

    fn obey(&mut self, order: Order) -> Next {
        match order {
            Order::Append { seq, append, reply } => self.append(seq, *append, reply),
            Order::Read { from, reply } => {
                let reading = self.activation.read(from);
                let reading = async move {
                    let _ = reply.send(reading.await);
                };
                self.activation.runtime().spawn(Box::pin(reading));
            }
            Order::Bring => match self.journal.take() {
                Some(journal) => return self.bring(Ok(journal)),
                None => self.reading = Some(self.activation.read(RecordNumber(0))),
            },
            Order::GiveBack { as_lost } => {
                self.give_back.get_or_insert(as_lost);
                return self.give_back_if_asked();
            }
        }
        Next::GoOn
    }

    /// The session gets the run, with its journal.
    fn bring(&mut self, read: Result<Vec<Entry>, StoreError>) -> Next {
        self.reading = None;
        match read {
            // Nobody is to have it any more.
            Ok(_) if self.give_back.is_some() => Next::GoOn,
            Ok(journal) => {
                self.pool.bring(self.seat, journal);
                Next::GoOn
            }
            Err(error) => {
                tracing::warn!(run = %self.activation.run, %error, "a run could not be read for a worker");
                self.obey(Order::GiveBack { as_lost: false })
            }
        }
    }

    /// The next append is passed on, the last one again gets the answer it got, and any other comes from somebody who has
    /// lost the run.
    fn append(&mut self, seq: u64, append: Append, reply: oneshot::Sender<OneAnswer>) {
        let is_again = seq == self.answered && planted::is(Bug::AppendPassedOnAgain);
        let is_next = seq == self.answered + 1 || is_again;
        match &mut self.in_flight {
            Some(InFlight {
                by: By::Worker(replies),
                ..
            }) if is_next => replies.push(reply),
            None if is_next && self.executing && self.give_back.is_none() => {
                self.in_flight = Some(InFlight {
                    then: append.then,
                    by: By::Worker(vec![reply]),
                });
                self.activation.append(append);
            }
            Some(_) | None => {
                let repeated = self.last.clone().filter(|_| seq == self.answered);
                let _ = reply.send(repeated.unwrap_or(OneAnswer::Lost));
            }
        }
    }

    /// Gives the run back once nothing of it is under way.
    fn give_back_if_asked(&mut self) -> Next {
        let Some(as_lost) = self.give_back.filter(|_| self.in_flight.is_none()) else {
            return Next::GoOn;
        };
        if !self.executing {
            return Next::End;
        }
        let then = match as_lost {
            true => Then::Abandon,
            false => Then::Release,
        };
        self.in_flight = Some(InFlight {
            then,
            by: By::Bridge,
        });
        self.activation.append(Append {
            records: Vec::new(),
            then,
            seen: RecordNumber(u64::MAX),
            inbox_seen: 0,
            progress: false,
            obsolete: Vec::new(),
            left: Vec::new(),
        });
        Next::GoOn
    }
}

fn wire(entries: Vec<Entry>) -> Vec<WireEntry> {
    entries.into_iter().map(WireEntry).collect()
}

#[cfg(test)]
mod tests;
