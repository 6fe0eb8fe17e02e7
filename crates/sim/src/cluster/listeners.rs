//! The subscriptions to the bus.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_store::{Hint, Subscription};

use super::process::Process;

pub(super) type Listener = Arc<dyn Fn(Hint) + Send + Sync>;

/// The listeners by the number of their subscription.
#[derive(Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    next: u64,
    by_number: BTreeMap<u64, (Arc<Process>, Listener)>,
}

impl Listeners {
    pub(super) fn all(&self) -> Vec<(Arc<Process>, Listener)> {
        lock(&self.0).by_number.values().cloned().collect()
    }

    pub(super) fn add(&self, process: Arc<Process>, listener: Listener) -> Subscription {
        let mut state = lock(&self.0);
        let number = state.next;
        state.next += 1;
        state.by_number.insert(number, (process, listener));
        drop(state);
        let listeners = Arc::downgrade(&self.0);
        Subscription::new(move || {
            if let Some(listeners) = listeners.upgrade() {
                // Dropping a listener can run any code, so release the lock first.
                let removed = lock(&listeners).by_number.remove(&number);
                drop(removed);
            }
        })
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
