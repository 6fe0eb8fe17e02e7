//! The behaviour suite of Everstep. Everything is in `tests/`; this crate has no code of its own.
//!
//! It is separate from `everstep`, so that the unit tests of that crate build without servers and
//! databases.
//!
//! - `tests/behaviours` tests what users rely on, through the public API, on every store.
//! - `tests/random` runs random workflows hot, evicted, crashed and replayed, and compares the
//!   results.
//! - `tests/kill9` kills a process again and again and checks that nothing acknowledged is lost.
