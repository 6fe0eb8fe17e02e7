//! Fuzz tests of the decoders of this crate (`everstep-fuzz`), one file each.

mod cursor;
mod shared_key;
