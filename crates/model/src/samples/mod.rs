//! Records and journals for tests: of this crate, and of others that enable the feature `samples`.

#![allow(missing_docs, reason = "test data")]
#![allow(clippy::unwrap_used, reason = "test data")]

mod journal;
mod kinds;
#[cfg(test)]
mod random;

pub use journal::*;
pub use kinds::one_of_each;
#[cfg(test)]
pub(crate) use random::any_record;
