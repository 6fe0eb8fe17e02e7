//! A cache of the heads of streams in use, so that the commit of a step reads nothing.
//!
//! Evicted heads are loaded from their rows when they are needed. Only the write path adds heads,
//! after their commit has become durable.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::StreamNumber;
use everstep_store::Head;

use crate::generations::Generations;

type SpreadNumbers = BuildHasherDefault<NumberHasher>;
pub(crate) type ByNumber<T> = HashMap<u64, T, SpreadNumbers>;
type Heads = Generations<u64, Arc<Head>, SpreadNumbers>;

pub(crate) struct HeadCache(Mutex<Heads>);

impl HeadCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self(Mutex::new(Generations::new(capacity)))
    }

    fn heads(&self) -> MutexGuard<'_, Heads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, number: StreamNumber) -> Option<Arc<Head>> {
        self.heads().get(&number.0)
    }

    /// Applies the changes of a durable batch.
    pub(crate) fn publish(&self, published: impl IntoIterator<Item = Published>) {
        let mut heads = self.heads();
        for head in published {
            match head {
                Published::Keep(head) => heads.keep(head.number.0, head),
                Published::Forget(number) => heads.forget(&number.0),
            }
        }
    }
}

/// A change of the cache.
pub(crate) enum Published {
    Keep(Arc<Head>),
    Forget(StreamNumber),
}

/// Hashes with one multiplication, which suffices because stream numbers are dense and chosen by the
/// store.
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
