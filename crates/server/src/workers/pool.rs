//! The sessions, the runs they execute, and the runs that wait for one. One lock protects all of
//! it; it is never held across an await.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use everstep_engine::Engine;
use everstep_model::{Entry, ErrorCode, Timestamp};
use everstep_protocol::worker::{Assigned, News, NewsWord, OneAnswer, WireEntry};

use super::queue::Queue;
use super::seat::SeatState;
use super::state::PoolState;
use super::token::Tokens;
use crate::auth::Caller;
use crate::failure::Failure;
use crate::options::Options;

/// The part of a session's time to live that a claim waits, so that a session survives two lost
/// claims.
const CLAIMS_PER_LIFETIME: u32 = 3;

/// All workers in other processes that execute runs of this engine.
pub(crate) struct Pool {
    pub(super) engine: Engine,
    pub(super) tokens: Tokens,
    /// How long a session stays open without a request.
    pub(super) time_to_live: Duration,
    /// Mirrors whether the queue is full, so that it can be read without the lock.
    full: Arc<AtomicBool>,
    state: Mutex<PoolState>,
}

impl Pool {
    pub(crate) fn new(engine: Engine, options: &Options) -> Self {
        let looking = engine.clone();
        let queue = Queue::new(options.worker_queue_max, move || looking.look_for_runs());
        Self {
            engine,
            tokens: Tokens::new(),
            time_to_live: options.worker_time_to_live,
            full: queue.full(),
            state: Mutex::new(PoolState::new(queue)),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state for a request of this session, which renews its time to live.
    pub(super) fn state_of(&self, session: &str) -> Result<MutexGuard<'_, PoolState>, Failure> {
        let now = self.elapsed();
        let mut state = self.state();
        let sender = state.sessions.get_mut(session);
        sender.ok_or_else(unknown_session)?.seen_at = now;
        Ok(state)
    }

    /// Returns the seat that an activation token of this session is for.
    pub(super) fn seat_of(&self, token: &str, session: &str) -> Result<u64, Failure> {
        self.tokens.verify(token, session).ok_or_else(bad_token)
    }

    pub(super) fn may_be_used_by(&self, session: &str, caller: &Caller) -> bool {
        let state = self.state();
        let offers = state.sessions.get(session).map(|found| found.offers.iter());
        let mut offers = offers.into_iter().flatten();
        offers.all(|offer| caller.may_work_on(offer.workflow.as_str()))
    }

    pub(super) fn now(&self) -> Timestamp {
        self.engine.runtime().now()
    }

    /// Reads the monotonic clock, by which the time to live is measured.
    pub(super) fn elapsed(&self) -> Duration {
        self.engine.runtime().elapsed()
    }

    /// Returns how long a claim waits for items.
    pub(super) fn claim_timeout(&self) -> Duration {
        self.time_to_live / CLAIMS_PER_LIFETIME
    }

    /// Sends an assigned run with its journal to its session.
    pub(super) fn hand_over(&self, number: u64, journal: Vec<Entry>) {
        let bytes = estimated_bytes(&journal);
        let mut state = self.state();
        let PoolState {
            sessions, seats, ..
        } = &mut *state;
        let Some(seat) = seats.get_mut(&number) else {
            return;
        };
        let SeatState::Assigned { session, pending } = &mut seat.state else {
            return;
        };
        let (id, pending) = (std::mem::take(session), std::mem::take(pending));
        seat.state = SeatState::Held {
            session: id.clone(),
            executing: true,
        };
        // The end of a session makes the bridge give the run back.
        let Some(session) = sessions.get_mut(&id) else {
            return;
        };
        let token = self.tokens.sign(&id, number);
        let run = Assigned {
            token: token.clone(),
            id: seat.run.clone(),
            generation: seat.generation,
            workflow: seat.workflow.clone(),
            version: seat.version,
            cautious: pending.cautious,
            journal: journal.into_iter().map(WireEntry).collect(),
        };
        session.push_run(run, bytes);
        for word in pending.words {
            let (token, after) = (token.clone(), 0);
            session.push_news(News { token, word, after });
        }
    }

    /// Notifies the session of a run. Returns false if no session has the run.
    pub(super) fn notify(&self, number: u64, word: NewsWord, after: u64) -> bool {
        let mut state = self.state();
        let PoolState {
            sessions, seats, ..
        } = &mut *state;
        let Some(seat) = seats.get_mut(&number) else {
            return false;
        };
        let id = match &mut seat.state {
            SeatState::Queued(pending) => {
                pending.words.push(word);
                return false;
            }
            SeatState::Assigned { pending, .. } => {
                pending.words.push(word);
                return true;
            }
            SeatState::Held { session, .. } | SeatState::Finished { session, .. } => {
                session.clone()
            }
        };
        let token = self.tokens.sign(&id, number);
        let news = News { token, word, after };
        let session = sessions.get_mut(&id);
        session.map(|session| session.push_news(news)).is_some()
    }

    /// Records that a run is suspended, which frees a slot of its session.
    pub(super) fn suspended(&self, number: u64) {
        let mut state = self.state();
        if let Some(session) = state.set_executing(number, false) {
            state.fill(&session);
        }
    }

    /// Records that a suspended run resumed. It may exceed the slots of its session.
    pub(super) fn resumed(&self, number: u64) {
        self.state().set_executing(number, true);
    }

    /// Records that a session no longer executes a run. Keeps the answer to its last append until
    /// the worker releases the run.
    pub(super) fn execution_ended(&self, number: u64, seq: u64, last: Option<OneAnswer>) {
        let mut state = self.state();
        let session = state.set_executing(number, false);
        state.queue.remove(number);
        let is_open = |session: &&String| state.sessions.contains_key(*session);
        let owner = session.as_ref().filter(is_open);
        match (owner, state.seats.get_mut(&number), last) {
            (Some(session), Some(seat), Some(last)) => {
                seat.state = SeatState::Finished {
                    session: session.clone(),
                    last: (seq, last),
                };
            }
            _ => drop(state.seats.remove(&number)),
        }
        if let Some(session) = session {
            state.fill(&session);
        }
    }

    /// Ends a session and gives its runs back. The runs of a lost session count as taken over.
    pub(super) fn end(&self, session: &str, as_lost: bool) {
        let mut state = self.state();
        let Some(ended) = state.sessions.remove(session) else {
            return;
        };
        ended.wake();
        let seats = state.seats.iter();
        let seats = seats.filter(|(_, seat)| seat.belongs_to(session));
        let numbers: Vec<u64> = seats.map(|(number, _)| *number).collect();
        for number in numbers {
            state.release(number, as_lost);
        }
        state.give_back_unoffered();
        drop(state);
        // Dropping the session takes a lock of the engine, so the pool must be unlocked.
        drop(ended);
    }

    /// Releases the runs of these tokens. A run that the worker neither ended nor suspended counts
    /// as lost.
    pub(super) fn release(&self, session: &str, tokens: &[String]) -> Result<(), Failure> {
        let mut state = self.state_of(session)?;
        for token in tokens {
            let number = self.seat_of(token, session)?;
            if state.seat_of(session, number).is_some() {
                state.release(number, true);
            }
        }
        Ok(())
    }
}

/// Estimates the size of a journal on the wire.
fn estimated_bytes(journal: &[Entry]) -> usize {
    /// The size of a record without its payloads.
    const RECORD_BYTES: usize = 300;
    let bytes = |entry: &Entry| {
        let payloads = entry.record.body.payloads();
        let payloads = payloads.map(|payload| payload.as_bytes().len());
        RECORD_BYTES + payloads.sum::<usize>()
    };
    journal.iter().map(bytes).sum()
}

pub(super) fn unknown_session() -> Failure {
    let detail =
        "the session has ended: it sent no requests, or the server restarted; register again";
    Failure::new(StatusCode::NOT_FOUND, ErrorCode::UnknownSession, detail)
}

fn bad_token() -> Failure {
    let detail = "the activation token was not issued to this session";
    Failure::new(StatusCode::FORBIDDEN, ErrorCode::Fenced, detail)
}
