//! The heads of streams in use, so that a step commit reads nothing.
//!
//! Two generations bound it: what is not touched while the young one fills up twice is forgotten, and loaded again
//! from its rows when it is needed. Only the committer puts heads in, and only after their commit is durable.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::StreamNumber;
use everstep_store::Head;

pub(crate) type ByNumber<T> = HashMap<u64, T, BuildHasherDefault<NumberHasher>>;

pub(crate) struct HeadCache(Mutex<Generations>);

struct Generations {
    young: ByNumber<Arc<Head>>,
    old: ByNumber<Arc<Head>>,
    /// How many heads one generation holds.
    half: usize,
}

impl HeadCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self(Mutex::new(Generations {
            young: HashMap::default(),
            old: HashMap::default(),
            half: (capacity / 2).max(1),
        }))
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, number: StreamNumber) -> Option<Arc<Head>> {
        let mut generations = self.generations();
        if let Some(head) = generations.young.get(&number.0) {
            return Some(head.clone());
        }
        let head = generations.old.remove(&number.0)?;
        generations.keep(head.clone());
        Some(head)
    }

    /// The heads of a batch that is durable.
    pub(crate) fn publish(&self, heads: impl IntoIterator<Item = Published>) {
        let mut generations = self.generations();
        for head in heads {
            match head {
                Published::Keep(head) => generations.keep(head),
                Published::Forget(number) => generations.forget(number),
            }
        }
    }
}

/// What a batch made of a stream.
pub(crate) enum Published {
    /// It is in use.
    Keep(Arc<Head>),
    /// It is gone, or hardly anybody will ask for it.
    Forget(StreamNumber),
}

impl Generations {
    fn keep(&mut self, head: Arc<Head>) {
        if self.young.len() >= self.half && !self.young.contains_key(&head.number.0) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(head.number.0, head);
    }

    fn forget(&mut self, number: StreamNumber) {
        self.young.remove(&number.0);
        self.old.remove(&number.0);
    }
}

/// Stream numbers are dense and chosen by the store, so one multiplication spreads them well enough.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::{RecordNumber, StreamName, Term};

    use super::*;

    fn kept(number: u64, next: u64) -> Published {
        Published::Keep(head(number, next))
    }

    fn head(number: u64, next: u64) -> Arc<Head> {
        let name = StreamName::from_stored("a");
        let mut head = Head::new(StreamNumber(number), name, Term(0));
        head.next = RecordNumber(next);
        Arc::new(head)
    }

    #[test]
    fn it_never_outgrows_its_bound() {
        let cache = HeadCache::new(10);
        for number in 0..1_000 {
            cache.publish([kept(number, 0)]);
            let generations = cache.generations();
            assert!(generations.young.len() + generations.old.len() <= 10);
        }
    }

    #[test]
    fn what_is_in_use_stays() {
        let cache = HeadCache::new(10);
        cache.publish([kept(0, 7)]);
        for number in 1..1_000 {
            cache.publish([kept(number, 0)]);
            assert_eq!(cache.get(StreamNumber(0)), Some(head(0, 7)));
        }
    }

    #[test]
    fn an_older_head_never_comes_back() {
        let cache = HeadCache::new(4);
        for next in 0..100 {
            cache.publish([kept(0, next)]);
            for other in 1..=next % 5 {
                cache.publish([kept(other, 0)]);
            }
            if let Some(found) = cache.get(StreamNumber(0)) {
                assert_eq!(found.next, RecordNumber(next));
            }
        }
    }

    #[test]
    fn what_is_forgotten_is_in_neither_generation() {
        let cache = HeadCache::new(4);
        cache.publish([kept(0, 0), kept(1, 0), kept(2, 0)]);
        cache.publish([0, 1, 2].map(|number| Published::Forget(StreamNumber(number))));
        for number in 0..3 {
            assert_eq!(cache.get(StreamNumber(number)), None);
        }
    }
}
