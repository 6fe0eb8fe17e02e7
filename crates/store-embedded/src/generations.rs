//! A bounded cache of recently used values.
//!
//! It has two generations. When the young one is full, it replaces the old one, so values that were
//! not used in between are evicted.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache of durable values. Only the write path adds values, after they have become durable.
pub(crate) struct Cache<K, V, S = RandomState>(Mutex<Generations<K, V, S>>);

impl<K: Hash + Eq + Clone, V: Clone, S: BuildHasher + Default> Cache<K, V, S> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self(Mutex::new(Generations::new(capacity)))
    }

    fn generations(&self) -> MutexGuard<'_, Generations<K, V, S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.generations().get(key)
    }

    /// Applies the changes of a durable batch; `None` removes a value.
    pub(crate) fn publish(&self, changes: impl IntoIterator<Item = (K, Option<V>)>) {
        let mut generations = self.generations();
        for (key, value) in changes {
            match value {
                Some(value) => generations.keep(key, value),
                None => generations.forget(&key),
            }
        }
    }
}

struct Generations<K, V, S = RandomState> {
    young: HashMap<K, V, S>,
    old: HashMap<K, V, S>,
    /// The capacity of one generation.
    half: usize,
}

impl<K: Hash + Eq + Clone, V: Clone, S: BuildHasher + Default> Generations<K, V, S> {
    fn new(capacity: usize) -> Self {
        Self {
            young: HashMap::default(),
            old: HashMap::default(),
            half: (capacity / 2).max(1),
        }
    }

    fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.keep(key, value.clone());
        Some(value)
    }

    fn keep(&mut self, key: K, value: V) {
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    fn forget(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }
}

#[cfg(test)]
mod tests;
