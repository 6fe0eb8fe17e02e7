//! An index in memory that finds the subscriptions of a stream at each append, and the linked
//! streams that have grown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::state::{Config, LinkType, Subscription};

#[derive(Default)]
pub(super) struct LinkIndex {
    entries: RwLock<BTreeMap<String, Entry>>,
    /// The number of subscriptions, so that appends take no lock while there are none.
    count: AtomicUsize,
    /// Numbers the notices that streams have grown.
    notices: AtomicU64,
    /// How many requests are about to create or append to a stream.
    growing: Mutex<BTreeMap<String, usize>>,
}

/// A request that is about to create or append to a stream. Links to the stream are kept until it
/// has ended, although the stream may not exist yet. When it ends, the stream is noted as grown: a
/// notice from before the append could be settled while the stream is still as it was.
pub(crate) struct Growing<'a> {
    index: &'a LinkIndex,
    path: String,
}

impl Drop for Growing<'_> {
    fn drop(&mut self) {
        for id in self.index.linked_to(&self.path) {
            self.index.grew(&id, &self.path);
        }
        let mut growing = self.index.growing();
        if let Some(count) = growing.get_mut(&self.path) {
            *count -= 1;
            if *count == 0 {
                growing.remove(&self.path);
            }
        }
    }
}

/// The part of a subscription that decides whether an append concerns it.
#[derive(Default)]
struct Entry {
    config: Option<Arc<Config>>,
    /// Streams that the subscription names.
    explicit: BTreeSet<String>,
    /// Streams that its pattern has linked.
    glob: BTreeSet<String>,
    /// Those of `glob` that did not exist when they were checked last.
    missing: BTreeSet<String>,
    /// Those of `glob` that may have unacknowledged messages, and the number of the notice.
    grown: BTreeMap<String, u64>,
}

impl Entry {
    fn is_linked(&self, path: &str) -> bool {
        self.explicit.contains(path) || self.glob.contains(path)
    }

    fn matches(&self, path: &str) -> bool {
        self.config
            .as_ref()
            .is_some_and(|config| config.matches(path))
    }
}

impl LinkIndex {
    /// Updates the parts of an entry that the document of the subscription contains.
    pub(super) fn insert(&self, subscription: &Subscription) {
        let links = subscription.links.iter();
        let explicit = links.filter(|(_, link)| link.link_type == LinkType::Explicit);
        let explicit = explicit.map(|(path, _)| path.clone()).collect();
        self.change(|entries| {
            let entry = entries.entry(subscription.id.clone()).or_default();
            entry.config = Some(Arc::new(subscription.config.clone()));
            entry.explicit = explicit;
        });
    }

    pub(super) fn remove(&self, id: &str) {
        self.change(|entries| drop(entries.remove(id)));
    }

    /// Registers a request that is about to create or append to a stream.
    pub(super) fn begin_growth(&self, path: &str) -> Option<Growing<'_>> {
        if self.is_empty() {
            return None;
        }
        *self.growing().entry(path.to_owned()).or_default() += 1;
        let (index, path) = (self, path.to_owned());
        Some(Growing { index, path })
    }

    pub(super) fn is_growing(&self, path: &str) -> bool {
        self.growing().contains_key(path)
    }

    fn growing(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether a linked stream exists. Returns whether it was missing before, too.
    pub(super) fn note_missing(&self, id: &str, path: &str, is_missing: bool) -> bool {
        let mut was_missing = false;
        self.change_entry(id, |entry| {
            was_missing = match is_missing {
                true => !entry.missing.insert(path.to_owned()),
                false => entry.missing.remove(path),
            };
        });
        was_missing
    }

    /// Adds a link of the pattern.
    pub(super) fn link(&self, id: &str, path: &str) {
        self.change_entry(id, |entry| {
            entry.glob.insert(path.to_owned());
        });
    }

    pub(super) fn unlink(&self, id: &str, path: &str) {
        self.change_entry(id, |entry| {
            entry.glob.remove(path);
            entry.grown.remove(path);
            entry.missing.remove(path);
        });
    }

    /// Notes that a linked stream may have unacknowledged messages.
    pub(super) fn grew(&self, id: &str, path: &str) {
        let notice = self.notices.fetch_add(1, Ordering::AcqRel);
        self.change_entry(id, |entry| {
            if entry.glob.contains(path) {
                entry.grown.insert(path.to_owned(), notice);
            }
        });
    }

    /// Returns some of the linked streams that may have unacknowledged messages, with their
    /// notices.
    pub(super) fn grown(&self, id: &str, limit: usize) -> Vec<(String, u64)> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let grown = entries.get(id).into_iter().flat_map(|entry| &entry.grown);
        let grown = grown.take(limit);
        grown
            .map(|(path, notice)| (path.clone(), *notice))
            .collect()
    }

    /// Notes that a stream had no unacknowledged messages when it had this notice.
    pub(super) fn settled(&self, id: &str, path: &str, notice: u64) {
        self.change_entry(id, |entry| {
            if entry.grown.get(path) == Some(&notice) {
                entry.grown.remove(path);
            }
        });
    }

    fn change_entry(&self, id: &str, change: impl FnOnce(&mut Entry)) {
        self.change(|entries| {
            if let Some(entry) = entries.get_mut(id) {
                change(entry);
            }
        });
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
        self.filtered(|entry| entry.is_linked(path))
    }

    /// Returns the subscriptions whose pattern matches a stream that they are not linked to yet.
    pub(super) fn to_be_linked_to(&self, path: &str) -> Vec<String> {
        self.filtered(|entry| !entry.is_linked(path) && entry.matches(path))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subscriptions::state::tests::subscription;

    #[test]
    fn a_stream_has_grown_after_an_append_although_its_notice_was_settled_meanwhile() {
        let index = LinkIndex::default();
        index.insert(&subscription());
        index.link("s", "events/a");
        let growing = index.begin_growth("events/a");
        index.grew("s", "events/a");
        for (path, notice) in index.grown("s", 10) {
            index.settled("s", &path, notice);
        }
        assert_eq!(index.grown("s", 10), []);
        drop(growing);
        assert_eq!(index.grown("s", 10).len(), 1);
    }
}
