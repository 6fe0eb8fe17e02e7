//! A bounded cache of recently used values.
//!
//! Two generations bound it: what is not touched while the young one fills up twice is forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

pub(crate) struct Generations<K, V, S = RandomState> {
    young: HashMap<K, V, S>,
    old: HashMap<K, V, S>,
    /// How many one generation holds.
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
mod tests {
    use super::*;

    #[test]
    fn it_never_outgrows_its_bound() {
        let mut known = Generations::<u64, u64>::new(10);
        for key in 0..1_000 {
            known.keep(key, 0);
            assert!(known.young.len() + known.old.len() <= 10);
        }
    }

    #[test]
    fn what_is_in_use_stays() {
        let mut known = Generations::<u64, u64>::new(10);
        known.keep(0, 7);
        for key in 1..1_000 {
            known.keep(key, 0);
            assert_eq!(known.get(&0), Some(7));
        }
    }

    #[test]
    fn an_older_value_never_comes_back() {
        let mut known = Generations::<u64, u64>::new(4);
        for value in 0..100 {
            known.keep(0, value);
            for other in 1..=value % 5 {
                known.keep(other, 0);
            }
            assert!(known.get(&0).is_none_or(|found| found == value));
        }
    }

    #[test]
    fn what_is_forgotten_is_in_neither_generation() {
        let mut known = Generations::<u64, u64>::new(4);
        for key in 0..3 {
            known.keep(key, 0);
        }
        for key in 0..3 {
            known.forget(&key);
            assert_eq!(known.get(&key), None);
        }
    }
}
