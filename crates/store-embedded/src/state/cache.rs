//! The heads of streams in use, so that a step commit reads nothing.
//!
//! What is forgotten is loaded again from its rows when it is needed. Only the committer puts heads
//! in, and only after their commit is durable.

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

    /// The heads of a batch that is durable.
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

/// The effect of a batch on the cached head of a stream.
pub(crate) enum Published {
    /// It is in use.
    Keep(Arc<Head>),
    /// It was removed or closed.
    Forget(StreamNumber),
}

/// Stream numbers are dense and chosen by the store, so one multiplication spreads them well
/// enough.
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
