//! What every store must do, as cases that any backend runs (dev only).
//!
//! ```text
//!   conformance! { open }      one #[test] per case of the contract; `open` gives a fresh store and its guard
//!   resending! { open }        the same for what is sent again, which exclusive stores need not know
//!   reopening! { place }       the same for what must survive closing; `place` can be opened again and again
//!   property::check            random batches, compared with the in-memory reference at every turn
//! ```
//!
//! It also holds what tests of other crates wrap around a store: [`Archive`], [`Blocking`],
//! [`Counting`], [`Faulty`], [`TestClock`]. It knows the contract only; nothing here may depend on
//! how a backend works.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

mod archive;
mod block_on;
mod blocking;
pub mod cases;
mod clock;
mod conformance;
mod counting;
mod faulty;
mod fixture;
pub mod property;
pub mod sample;

pub use archive::Archive;
pub use block_on::block_on;
pub use blocking::Blocking;
pub use clock::{START, TestClock};
pub use counting::{Calls, Counting};
pub use faulty::{Fault, Faulty};
pub use fixture::{Case, Fixture, Reopen, run_case, run_reopening};
