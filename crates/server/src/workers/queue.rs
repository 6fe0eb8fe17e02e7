//! The runs that wait for a session, the oldest first. There are only so many of them: the others stay in the store, where every
//! node can take them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) struct Queue {
    /// Numbers of seats; they rise.
    seats: BTreeSet<u64>,
    most: usize,
    full: Arc<AtomicBool>,
    /// Called when there is room again.
    on_room: Box<dyn Fn() + Send>,
}

impl Queue {
    pub(super) fn new(most: usize, on_room: impl Fn() + Send + 'static) -> Self {
        Self {
            seats: BTreeSet::new(),
            most: most.max(1),
            full: Arc::default(),
            on_room: Box::new(on_room),
        }
    }

    /// Whether it holds as many as it should, for those who ask without the lock.
    pub(super) fn full(&self) -> Arc<AtomicBool> {
        self.full.clone()
    }

    /// Adds a run; false if there is no room for it.
    pub(super) fn push(&mut self, seat: u64) -> bool {
        let fits = self.seats.len() < self.most;
        if fits {
            self.seats.insert(seat);
        }
        if self.seats.len() >= self.most {
            self.full.store(true, Ordering::Relaxed);
        }
        fits
    }

    pub(super) fn remove(&mut self, seat: u64) {
        let was_there = self.seats.remove(&seat);
        // Not with the first one that goes: whoever looks for more finds more than one.
        let has_room = self.seats.len() <= self.most / 2;
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
    fn it_is_full_until_half_of_it_is_gone() {
        let asked = Arc::new(AtomicU32::new(0));
        let counter = asked.clone();
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
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }
}
