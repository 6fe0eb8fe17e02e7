//! The conformance kit: cases that every backend must pass. Only tests depend on it.
//!
//! ```text
//!   conformance! { open }      one #[test] per case of the contract; `open` returns a fresh store and its guard
//!   resending! { open }        the same for repeated commits, which exclusive stores may ignore
//!   reopening! { storage }     the same for data that must survive closing; `storage` can be opened repeatedly
//!   property::check            random batches, compared with the in-memory reference after each one
//! ```
//!
//! It also contains the wrappers that other tests put around a store ([`Archive`], [`Blocking`],
//! [`Counting`], [`Faulty`]) and the clock that tests set by hand ([`TestClock`]). The crate uses
//! only the contract and does not depend on how a backend works.

#![allow(
    missing_docs,
    reason = "test code: an item has a comment if its name does not say enough"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

mod block_on;
pub mod cases;
mod clock;
mod conformance;
mod fixture;
pub mod property;
pub mod sample;
mod wrappers;

pub use block_on::block_on;
pub use clock::{START, TestClock};
pub use fixture::{Case, Fixture, Reopen, run_case, run_reopening};
pub use wrappers::{Archive, Blocking, Calls, Counting, Fault, Faulty};
