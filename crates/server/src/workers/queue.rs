//! The runs that wait for a session, the oldest first. The queue is bounded: further runs stay in
//! the store, where every node can claim them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) struct Queue {
    /// Seat numbers, which ascend.
    seats: BTreeSet<u64>,
    max: usize,
    full: Arc<AtomicBool>,
    /// Called when the queue has room again.
    on_room: Box<dyn Fn() + Send>,
}

impl Queue {
    pub(super) fn new(max: usize, on_room: impl Fn() + Send + 'static) -> Self {
        Self {
            seats: BTreeSet::new(),
            max: max.max(1),
            full: Arc::default(),
            on_room: Box::new(on_room),
        }
    }

    /// Returns a flag that mirrors whether the queue is full, for readers without the lock.
    pub(super) fn full(&self) -> Arc<AtomicBool> {
        self.full.clone()
    }

    /// Adds a seat. Returns false if the queue is full.
    pub(super) fn push(&mut self, seat: u64) -> bool {
        let fits = self.seats.len() < self.max;
        if fits {
            self.seats.insert(seat);
        }
        if self.seats.len() >= self.max {
            self.full.store(true, Ordering::Relaxed);
        }
        fits
    }

    pub(super) fn remove(&mut self, seat: u64) {
        let was_there = self.seats.remove(&seat);
        // Wait until half of the queue is free, so that one search finds many runs.
        let has_room = self.seats.len() <= self.max / 2;
        if was_there && has_room && self.full.swap(false, Ordering::Relaxed) {
            (self.on_room)();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &u64> {
        self.seats.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn a_full_queue_asks_for_runs_when_half_of_it_is_free() {
        let calls = Arc::new(AtomicU32::new(0));
        let counter = calls.clone();
        let mut queue = Queue::new(4, move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let full = queue.full();
        let is_full = || full.load(Ordering::Relaxed);
        for seat in 1..=4 {
            assert!(!is_full() && queue.push(seat));
        }
        assert!(is_full() && !queue.push(5));
        assert!(queue.iter().eq(&[1, 2, 3, 4]));
        queue.remove(1);
        assert!(is_full());
        queue.remove(1);
        queue.remove(2);
        queue.remove(3);
        assert!(!is_full());
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
