//! Records and journals for tests.
//!
//! This is a crate and not a feature of `everstep-model`, so that tests and the product share one
//! build of the model. The unit tests of the model include this file as a module.

#![allow(missing_docs, unreachable_pub, reason = "test data")]
#![allow(clippy::unwrap_used, reason = "test data")]

mod journal;
mod kinds;
mod random;

pub use journal::*;
pub use kinds::one_of_each;
pub use random::any_record;
