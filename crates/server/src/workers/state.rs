//! The sessions and seats of a pool. All methods run under the lock of the pool and never wait.

use std::collections::BTreeMap;

use super::queue::Queue;
use super::seat::{Command, Seat, SeatState};
use super::session::Session;

pub(super) struct PoolState {
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) seats: BTreeMap<u64, Seat>,
    /// Seats that wait for a session.
    pub(super) queue: Queue,
    last_seat: u64,
}

impl PoolState {
    pub(super) fn new(queue: Queue) -> Self {
        Self {
            sessions: BTreeMap::new(),
            seats: BTreeMap::new(),
            queue,
            last_seat: 0,
        }
    }

    pub(super) fn add(&mut self, seat: Seat) -> u64 {
        self.last_seat += 1;
        self.seats.insert(self.last_seat, seat);
        self.last_seat
    }

    /// Returns a seat that belongs to this session.
    pub(super) fn seat_of(&self, session: &str, number: u64) -> Option<&Seat> {
        let seat = self.seats.get(&number);
        seat.filter(|seat| seat.belongs_to(session))
    }

    /// Assigns a new run to the session with the most free slots, or queues it. Gives it back if no
    /// session offers its workflow or the queue is full. Returns whether a session has it.
    pub(super) fn assign_or_queue(&mut self, number: u64) -> bool {
        let Some(seat) = self.seats.get(&number) else {
            return false;
        };
        let fits =
            |session: &Session| session.has_room() && session.offers(&seat.workflow, seat.version);
        let fitting = self.sessions.iter().filter(|(_, session)| fits(session));
        let best = fitting.max_by_key(|(_, session)| session.slots - session.executing);
        if let Some(id) = best.map(|(id, _)| id.clone()) {
            self.assign(number, &id);
            return true;
        }
        // The last session that offered the workflow may have just ended.
        if !self.is_offered(number) || !self.queue.push(number) {
            self.command(number, Command::GiveBack { as_lost: false });
        }
        false
    }

    /// Assigns queued runs to a session while it has free slots.
    pub(super) fn fill(&mut self, session: &str) {
        loop {
            let Some(free) = self.sessions.get(session).filter(|its| its.has_room()) else {
                return;
            };
            let fits = |number: &&u64| {
                let seat = self.seats.get(number);
                seat.is_some_and(|seat| free.offers(&seat.workflow, seat.version))
            };
            let Some(number) = self.queue.iter().find(fits).copied() else {
                return;
            };
            self.assign(number, session);
        }
    }

    fn assign(&mut self, number: u64, session: &str) {
        self.queue.remove(number);
        let (Some(seat), Some(owner)) =
            (self.seats.get_mut(&number), self.sessions.get_mut(session))
        else {
            return;
        };
        let SeatState::Queued(pending) = &mut seat.state else {
            return;
        };
        seat.state = SeatState::Assigned {
            session: session.to_owned(),
            pending: std::mem::take(pending),
        };
        owner.executing += 1;
        let _ = seat.commands.send(Command::HandOver);
    }

    fn is_offered(&self, number: u64) -> bool {
        let mut sessions = self.sessions.values();
        let seat = self.seats.get(&number);
        seat.is_some_and(|seat| sessions.any(|it| it.offers(&seat.workflow, seat.version)))
    }

    /// Gives queued runs back to the engine whose workflow no session offers any more.
    pub(super) fn give_back_unoffered(&mut self) {
        let queued = self.queue.iter().copied();
        let unoffered: Vec<u64> = queued.filter(|number| !self.is_offered(*number)).collect();
        for number in unoffered {
            self.give_back(number, false);
        }
    }

    /// Gives a run back to the engine. Removes it from the queue, so that no session takes it on
    /// the way.
    fn give_back(&mut self, number: u64, as_lost: bool) {
        self.queue.remove(number);
        self.command(number, Command::GiveBack { as_lost });
    }

    fn command(&self, number: u64, command: Command) {
        if let Some(seat) = self.seats.get(&number) {
            let _ = seat.commands.send(command);
        }
    }

    /// Takes a run from its worker, which released it or is lost.
    pub(super) fn release(&mut self, number: u64, as_lost: bool) {
        let state = self.seats.get(&number).map(|seat| &seat.state);
        if matches!(state, Some(SeatState::Finished { .. })) {
            self.seats.remove(&number);
        } else {
            self.give_back(number, as_lost);
        }
    }

    /// Records whether a run is being executed or suspended. Returns the session that holds it.
    pub(super) fn set_executing(&mut self, number: u64, now: bool) -> Option<String> {
        let seat = self.seats.get_mut(&number)?;
        let before = seat.is_executing();
        let session = match &mut seat.state {
            SeatState::Held { session, executing } => {
                *executing = now;
                session.clone()
            }
            SeatState::Assigned { session, .. } => session.clone(),
            SeatState::Queued(_) | SeatState::Finished { .. } => return None,
        };
        if let Some(owner) = self.sessions.get_mut(&session) {
            match (before, now) {
                (true, false) => owner.executing = owner.executing.saturating_sub(1),
                (false, true) => owner.executing += 1,
                (true, true) | (false, false) => {}
            }
        }
        Some(session)
    }
}
