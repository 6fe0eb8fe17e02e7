//! A bounded cache of recently used values.
//!
//! It has two generations. When the young one is full, it replaces the old one, so values that were
//! not used in between are evicted.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

pub(crate) struct Generations<K, V, S = RandomState> {
    young: HashMap<K, V, S>,
    old: HashMap<K, V, S>,
    /// The capacity of one generation.
    half: usize,
}

impl<K: Hash + Eq + Clone, V: Clone, S: BuildHasher + Default> Generations<K, V, S> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            young: HashMap::default(),
            old: HashMap::default(),
            half: (capacity / 2).max(1),
        }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.keep(key, value.clone());
        Some(value)
    }

    pub(crate) fn keep(&mut self, key: K, value: V) {
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    pub(crate) fn forget(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }
}

#[cfg(test)]
mod tests;
