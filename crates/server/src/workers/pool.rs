//! The sessions, the runs they execute, and the runs that wait for one. Everything under one lock that is never held while
//! something is waited for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::{Activation, Engine};
use everstep_model::{Entry, Timestamp};
use everstep_protocol::worker::{Assigned, News, NewsWord, OneAnswer, WireEntry};
use everstep_store::BoxFuture;
use tokio::sync::mpsc;

use super::bridge::Bridge;
use super::queue::Queue;
use super::seat::{Order, Place, Seat, Untold};
use super::session::Session;
use super::token::{Right, Tokens};
use crate::options::Options;

/// Everybody who executes runs of this engine elsewhere.
pub(crate) struct Pool {
    pub(super) engine: Engine,
    pub(super) tokens: Tokens,
    /// How long a session lives without a sign of life.
    pub(super) time_to_live: Duration,
    /// Whether as many runs wait for a session as may.
    full: Arc<AtomicBool>,
    state: Mutex<State>,
}

pub(super) struct State {
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) seats: BTreeMap<u64, Seat>,
    /// Seats that wait for a session.
    queue: Queue,
    last_seat: u64,
}

impl Pool {
    pub(crate) fn new(engine: Engine, options: &Options) -> Self {
        let asked = engine.clone();
        let queue = Queue::new(options.worker_queue_max, move || asked.look_for_runs());
        Self {
            engine,
            tokens: Tokens::new(),
            time_to_live: options.worker_time_to_live,
            full: queue.full(),
            state: Mutex::new(State {
                sessions: BTreeMap::new(),
                seats: BTreeMap::new(),
                queue,
                last_seat: 0,
            }),
        }
    }

    /// Whether as many runs wait for a session as may.
    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
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
        let untold = Untold {
            cautious: activation.cautious,
            news: Vec::new(),
        };
        let seat = Seat {
            run: activation.run.clone(),
            generation: activation.generation,
            workflow: activation.workflow.clone(),
            version: activation.version,
            orders,
            place: Place::Waiting(untold),
        };
        let number = self.state().add(seat);
        let journal = std::mem::take(&mut activation.journal);
        // A run that waits is read when its turn comes: the journals of all that wait would be too much to keep.
        let journal = self.place(number).then_some(journal);
        let bridge = Bridge::new(self, number, activation, journal);
        bridge.run(inbox).await;
    }

    /// Finds a session for a new run: the one with the most room, if one has any. Otherwise it waits, if it can. Says
    /// whether it has a session.
    fn place(&self, number: u64) -> bool {
        let mut state = self.state();
        let State {
            sessions, seats, ..
        } = &mut *state;
        let Some(seat) = seats.get(&number) else {
            return false;
        };
        let fits =
            |session: &Session| session.has_room() && session.offers(&seat.workflow, seat.version);
        let fitting = sessions.iter().filter(|(_, session)| fits(session));
        let best = fitting.max_by_key(|(_, session)| session.slots - session.executing);
        if let Some(id) = best.map(|(id, _)| id.clone()) {
            state.assign(number, &id);
            return true;
        }
        // The last session that could have taken it may just have gone.
        if !state.is_offered(number) || !state.queue.push(number) {
            state.order(number, Order::GiveBack { as_lost: false });
        }
        false
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
            state.assign(number, session);
        }
    }

    /// A session hears of a run that is for it.
    pub(super) fn bring(&self, number: u64, journal: Vec<Entry>) {
        let bytes = about_bytes(&journal);
        let mut state = self.state();
        let State {
            sessions, seats, ..
        } = &mut *state;
        let Some(seat) = seats.get_mut(&number) else {
            return;
        };
        let Place::Coming { session, untold } = &mut seat.place else {
            return;
        };
        let (id, untold) = (std::mem::take(session), std::mem::take(untold));
        seat.place = Place::With {
            session: id.clone(),
            executing: true,
        };
        // A session that is over has told the bridge to give the run back.
        let Some(its) = sessions.get_mut(&id) else {
            return;
        };
        let token = self.token(number, seat, &id);
        let run = Assigned {
            token: token.clone(),
            id: seat.run.clone(),
            generation: seat.generation,
            workflow: seat.workflow.clone(),
            version: seat.version,
            cautious: untold.cautious,
            journal: journal.into_iter().map(WireEntry).collect(),
        };
        its.bring(run, bytes);
        for word in untold.news {
            let token = token.clone();
            its.tell(News {
                token,
                word,
                after: 0,
            });
        }
    }

    fn token(&self, number: u64, seat: &Seat, session: &str) -> String {
        self.tokens.sign(&Right {
            session: session.to_owned(),
            seat: number,
            run: seat.run.clone(),
            generation: seat.generation,
        })
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
        let session = match &mut seat.place {
            Place::Waiting(untold) => {
                untold.news.push(word);
                return false;
            }
            Place::Coming { untold, .. } => {
                untold.news.push(word);
                return true;
            }
            Place::With { session, .. } | Place::Over { session, .. } => session.clone(),
        };
        let token = self.token(number, seat, &session);
        let told = sessions.get_mut(&session);
        let news = News { token, word, after };
        told.map(|session| session.tell(news)).is_some()
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
        state.queue.remove(number);
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
    fn add(&mut self, seat: Seat) -> u64 {
        self.last_seat += 1;
        self.seats.insert(self.last_seat, seat);
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
    pub(super) fn give_back_what_nobody_offers(&mut self) {
        let waiting = self.queue.iter().copied();
        let nobodys: Vec<u64> = waiting.filter(|number| !self.is_offered(*number)).collect();
        for number in nobodys {
            self.give_back(number, false);
        }
    }

    /// A run goes back to the engine, and to no other session on the way.
    fn give_back(&mut self, number: u64, as_lost: bool) {
        self.queue.remove(number);
        self.order(number, Order::GiveBack { as_lost });
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
            self.give_back(number, as_lost);
        }
    }

    /// A run is for this session, which hears of it as soon as its journal has been read.
    fn assign(&mut self, number: u64, session: &str) {
        self.queue.remove(number);
        let (Some(seat), Some(its)) = (self.seats.get_mut(&number), self.sessions.get_mut(session))
        else {
            return;
        };
        let Place::Waiting(untold) = &mut seat.place else {
            return;
        };
        seat.place = Place::Coming {
            session: session.to_owned(),
            untold: std::mem::take(untold),
        };
        its.executing += 1;
        let _ = seat.orders.send(Order::Bring);
    }

    /// Notes whether a run is being executed; gives the session that has it.
    fn set_executing(&mut self, number: u64, now: bool) -> Option<String> {
        let seat = self.seats.get_mut(&number)?;
        let before = seat.is_executing();
        let session = match &mut seat.place {
            Place::With { session, executing } => {
                *executing = now;
                session.clone()
            }
            Place::Coming { session, .. } => session.clone(),
            Place::Waiting(_) | Place::Over { .. } => return None,
        };
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

/// About how many bytes a journal takes on its way.
fn about_bytes(journal: &[Entry]) -> usize {
    /// Of a record besides its payloads.
    const RECORD_BYTES: usize = 300;
    let of = |entry: &Entry| {
        let payloads = entry.record.body.payloads();
        let payloads = payloads.map(|payload| payload.as_bytes().len());
        RECORD_BYTES + payloads.sum::<usize>()
    };
    journal.iter().map(of).sum()
}
