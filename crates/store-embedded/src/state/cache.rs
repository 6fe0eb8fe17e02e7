//! A cache of the heads of streams in use, so that the commit of a step reads nothing. Evicted
//! heads are loaded from their rows when they are needed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use everstep_model::StreamNumber;
use everstep_store::Head;

use crate::generations::Cache;

pub(crate) type ByNumber<T> = HashMap<StreamNumber, T, BuildHasherDefault<NumberHasher>>;
pub(crate) type HeadCache = Cache<StreamNumber, Arc<Head>, BuildHasherDefault<NumberHasher>>;

/// Hashes with one multiplication, which suffices because stream numbers are dense and chosen by
/// the store.
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
