//! The sessions, the runs they execute, and the runs that wait for one. Everything under one lock that is never held while
//! something is waited for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::{Activation, Engine};
use everstep_model::Timestamp;
use everstep_protocol::worker::{Assigned, News, NewsWord, OneAnswer, WireEntry};
use everstep_store::BoxFuture;
use tokio::sync::mpsc;

use super::bridge::Bridge;
use super::seat::{Order, Place, Seat, Waiting};
use super::session::Session;
use super::token::{Right, Tokens};

/// Everybody who executes runs of this engine elsewhere.
pub(crate) struct Pool {
    pub(super) engine: Engine,
    pub(super) tokens: Tokens,
    /// How long a session lives without a sign of life.
    pub(super) time_to_live: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) seats: BTreeMap<u64, Seat>,
    /// Seats that wait for a session, the oldest first.
    queue: VecDeque<u64>,
    last_seat: u64,
}

impl Pool {
    pub(crate) fn new(engine: Engine, time_to_live: Duration) -> Self {
        Self {
            engine,
            tokens: Tokens::new(),
            time_to_live,
            state: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.engine.runtime().now()
    }

    /// What lives are measured by: the clock that nobody sets.
    pub(super) fn elapsed(&self) -> Duration {
        self.engine.runtime().elapsed()
    }

    pub(super) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.engine.runtime().sleep(duration)
    }

    /// A run to execute: a session that has room gets it, or else the first that asks.
    pub(super) async fn execute(self: Arc<Self>, mut activation: Activation) {
        let (orders, inbox) = mpsc::unbounded_channel();
        let waiting = Waiting {
            cautious: activation.cautious,
            journal: std::mem::take(&mut activation.journal),
            news: Vec::new(),
        };
        let seat = Seat {
            run: activation.run.clone(),
            generation: activation.generation,
            workflow: activation.workflow.clone(),
            version: activation.version,
            orders,
            place: Place::Waiting(Box::new(waiting)),
        };
        let number = self.state().enqueue(seat);
        self.place(number);
        Bridge::new(self, number, activation).run(inbox).await;
    }

    /// Finds a session for a run that waits, if one has room; the one with the most room.
    fn place(&self, number: u64) {
        let mut state = self.state();
        let State {
            sessions, seats, ..
        } = &mut *state;
        let Some(seat) = seats.get(&number) else {
            return;
        };
        let fits =
            |session: &Session| session.has_room() && session.offers(&seat.workflow, seat.version);
        let fitting = sessions.iter().filter(|(_, session)| fits(session));
        let best = fitting.max_by_key(|(_, session)| session.slots - session.executing);
        match best.map(|(id, _)| id.clone()) {
            Some(id) => state.assign(&self.tokens, number, &id),
            // The last session that could have taken it may just have gone.
            None if !state.is_offered(number) => {
                state.order(number, Order::GiveBack { as_lost: false })
            }
            None => {}
        }
    }

    /// Gives a session what waits and what it has room for.
    pub(super) fn fill(&self, state: &mut State, session: &str) {
        loop {
            let State {
                sessions,
                seats,
                queue,
                ..
            } = &mut *state;
            let Some(its) = sessions.get(session).filter(|its| its.has_room()) else {
                return;
            };
            let fits = |number: &&u64| {
                let seat = seats.get(number);
                seat.is_some_and(|seat| its.offers(&seat.workflow, seat.version))
            };
            let Some(number) = queue.iter().find(fits).copied() else {
                return;
            };
            state.assign(&self.tokens, number, session);
        }
    }

    /// Tells the session that has a run; false if none has.
    pub(super) fn tell(&self, number: u64, word: NewsWord, after: u64) -> bool {
        let mut state = self.state();
        let State {
            sessions, seats, ..
        } = &mut *state;
        let Some(seat) = seats.get_mut(&number) else {
            return false;
        };
        match &mut seat.place {
            Place::Waiting(waiting) => {
                waiting.news.push(word);
                false
            }
            Place::With { session, .. } | Place::Over { session, .. } => {
                let token = self.tokens.sign(&Right {
                    session: session.clone(),
                    seat: number,
                    run: seat.run.clone(),
                    generation: seat.generation,
                });
                let told = sessions.get_mut(session);
                let news = News { token, word, after };
                told.map(|session| session.tell(news)).is_some()
            }
        }
    }

    /// A run is suspended: its session has room for another.
    pub(super) fn suspended(&self, number: u64) {
        let mut state = self.state();
        if let Some(session) = state.set_executing(number, false) {
            self.fill(&mut state, &session);
        }
    }

    /// A suspended run goes on, whether there is room or not.
    pub(super) fn resumed(&self, number: u64) {
        self.state().set_executing(number, true);
    }

    /// A run is not executed by its session any more. What its last append was answered is kept until the worker lets go of
    /// it.
    pub(super) fn execution_over(&self, number: u64, seq: u64, last: Option<OneAnswer>) {
        let mut state = self.state();
        let session = state.set_executing(number, false);
        state.queue.retain(|queued| *queued != number);
        let is_kept = last.is_some()
            && session
                .as_ref()
                .is_some_and(|session| state.sessions.contains_key(session));
        match (session, state.seats.get_mut(&number)) {
            (Some(session), Some(seat)) if is_kept => {
                seat.place = Place::Over {
                    session: session.clone(),
                    seq,
                    last,
                };
                self.fill(&mut state, &session);
            }
            (session, _) => {
                state.seats.remove(&number);
                if let Some(session) = session {
                    self.fill(&mut state, &session);
                }
            }
        }
    }

    /// Ends a session. Its runs go to others; those of a lost one count as taken over.
    pub(super) fn end(&self, session: &str, as_lost: bool) {
        let mut state = self.state();
        let Some(ended) = state.sessions.remove(session) else {
            return;
        };
        ended.wake();
        let its = state.seats.iter().filter(|(_, seat)| seat.is_of(session));
        let its: Vec<u64> = its.map(|(number, _)| *number).collect();
        for number in its {
            state.let_go(number, as_lost);
        }
        state.give_back_what_nobody_offers();
        drop(state);
        // Outside the lock: it takes the engine's.
        drop(ended);
    }
}

impl State {
    fn enqueue(&mut self, seat: Seat) -> u64 {
        self.last_seat += 1;
        self.seats.insert(self.last_seat, seat);
        self.queue.push_back(self.last_seat);
        self.last_seat
    }

    fn is_offered(&self, number: u64) -> bool {
        let Some(seat) = self.seats.get(&number) else {
            return false;
        };
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.offers(&seat.workflow, seat.version))
    }

    /// Runs that wait and that no session can execute go back to the engine.
    pub(super) fn give_back_what_nobody_offers(&self) {
        for number in self
            .queue
            .iter()
            .filter(|number| !self.is_offered(**number))
        {
            self.order(*number, Order::GiveBack { as_lost: false });
        }
    }

    fn order(&self, number: u64, order: Order) {
        if let Some(seat) = self.seats.get(&number) {
            let _ = seat.orders.send(order);
        }
    }

    /// A worker lets go of a run, or is lost.
    pub(super) fn let_go(&mut self, number: u64, as_lost: bool) {
        let place = self.seats.get(&number).map(|seat| &seat.place);
        if matches!(place, Some(Place::Over { .. })) {
            self.seats.remove(&number);
        } else {
            self.order(number, Order::GiveBack { as_lost });
        }
    }

    fn assign(&mut self, tokens: &Tokens, number: u64, session: &str) {
        self.queue.retain(|queued| *queued != number);
        let (Some(seat), Some(its)) = (self.seats.get_mut(&number), self.sessions.get_mut(session))
        else {
            return;
        };
        let place = Place::With {
            session: session.to_owned(),
            executing: true,
        };
        let Place::Waiting(waiting) = std::mem::replace(&mut seat.place, place) else {
            return;
        };
        let token = tokens.sign(&Right {
            session: session.to_owned(),
            seat: number,
            run: seat.run.clone(),
            generation: seat.generation,
        });
        its.assign(Assigned {
            token: token.clone(),
            id: seat.run.clone(),
            generation: seat.generation,
            workflow: seat.workflow.clone(),
            version: seat.version,
            cautious: waiting.cautious,
            journal: waiting.journal.into_iter().map(WireEntry).collect(),
        });
        for word in waiting.news {
            its.tell(News {
                token: token.clone(),
                word,
                after: 0,
            });
        }
    }

    /// Notes whether a run is being executed; gives the session that has it.
    fn set_executing(&mut self, number: u64, now: bool) -> Option<String> {
        let seat = self.seats.get_mut(&number)?;
        let before = seat.is_executing();
        let Place::With { session, executing } = &mut seat.place else {
            return None;
        };
        *executing = now;
        let session = session.clone();
        if let Some(its) = self.sessions.get_mut(&session) {
            match (before, now) {
                (true, false) => its.executing = its.executing.saturating_sub(1),
                (false, true) => its.executing += 1,
                (true, true) | (false, false) => {}
            }
        }
        Some(session)
    }
}
