//! Hints between nodes. Losing, repeating or reordering them costs latency, never correctness.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{StreamNumber, Timestamp};

/// A hint that the store may hold something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The stream has new records that its executor has not seen.
    Grew(StreamNumber),
    /// The stream has new records by its own executor, which only followers of the stream need.
    Advanced(StreamNumber),
    /// The stream was closed or removed.
    Closed(StreamNumber),
    /// The run has a ready mark and no executor.
    Ready(StreamNumber),
    /// A timer was set for this time.
    Timer(Timestamp),
    /// The run has effects that the publishing node cannot deliver.
    Outbox(StreamNumber),
}

/// Carries hints to subscribers on this node and on others.
///
/// A bus MAY drop, repeat, delay and reorder. It MUST NOT block the publisher. A subscriber MUST
/// NOT block the bus.
pub trait Bus: Send + Sync + 'static {
    /// Sends a hint to every subscriber, including those of the publisher.
    fn publish(&self, hint: Hint);

    /// Calls `on_hint` for each hint until the subscription is dropped.
    fn subscribe(&self, on_hint: Box<dyn Fn(Hint) + Send + Sync>) -> Subscription;
}

/// Ends a subscription when it is dropped.
pub struct Subscription(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Subscription {
    /// Calls `end` when the subscription is dropped.
    #[must_use]
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Subscription")
    }
}

type Listener = Arc<dyn Fn(Hint) + Send + Sync>;

/// The bus of one process. It calls every subscriber on the publisher's thread.
#[derive(Clone, Default)]
pub struct LocalBus(Arc<Mutex<Listeners>>);

#[derive(Default)]
struct Listeners {
    next: u64,
    by_id: BTreeMap<u64, Listener>,
}

impl LocalBus {
    /// Creates a bus without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bus for LocalBus {
    fn publish(&self, hint: Hint) {
        let listeners: Vec<Listener> = self.listeners().by_id.values().cloned().collect();
        for listener in listeners {
            listener(hint);
        }
    }

    fn subscribe(&self, on_hint: Box<dyn Fn(Hint) + Send + Sync>) -> Subscription {
        let mut listeners = self.listeners();
        let id = listeners.next;
        listeners.next += 1;
        listeners.by_id.insert(id, on_hint.into());
        drop(listeners);
        let bus = Arc::downgrade(&self.0);
        Subscription::new(move || {
            if let Some(bus) = bus.upgrade() {
                Self(bus).listeners().by_id.remove(&id);
            }
        })
    }
}
