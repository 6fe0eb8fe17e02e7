//! An index in memory that finds the subscriptions of a stream at each append.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::state::{Config, Subscription};

#[derive(Default)]
pub(super) struct LinkIndex {
    entries: RwLock<BTreeMap<String, Entry>>,
    /// The number of subscriptions, so that appends take no lock while there are none.
    count: AtomicUsize,
}

/// The part of a subscription that decides whether an append concerns it.
struct Entry {
    config: Arc<Config>,
    linked: BTreeSet<String>,
}

impl LinkIndex {
    pub(super) fn insert(&self, subscription: &Subscription) {
        let entry = Entry {
            config: Arc::new(subscription.config.clone()),
            linked: subscription.links.keys().cloned().collect(),
        };
        self.change(|entries| drop(entries.insert(subscription.id.clone(), entry)));
    }

    pub(super) fn remove(&self, id: &str) {
        self.change(|entries| drop(entries.remove(id)));
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Entry>)) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut entries);
        self.count.store(entries.len(), Ordering::Release);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.filtered(|_| true)
    }

    /// Returns the ids of the subscriptions that are linked to a stream.
    pub(super) fn linked_to(&self, path: &str) -> Vec<String> {
        self.filtered(|entry| entry.linked.contains(path))
    }

    /// Returns the subscriptions whose pattern matches a stream that they are not linked to yet.
    pub(super) fn to_be_linked_to(&self, path: &str) -> Vec<String> {
        self.filtered(|entry| !entry.linked.contains(path) && entry.config.matches(path))
    }

    fn filtered(&self, filter: impl Fn(&Entry) -> bool) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let matching = entries.iter().filter(|(_, entry)| filter(entry));
        matching.map(|(id, _)| id.clone()).collect()
    }
}
