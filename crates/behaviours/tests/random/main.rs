//! Random workflows: whatever they do and whatever happens to them, an execution that was never interrupted and one from the
//! journal see the same. Apart from the other tests because they are run many times, optimised, and are soon built.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod copies;
mod family;
mod fork_programs;
mod hot_equals_cold;
mod program;
mod recorded;
mod traces;
mod undos;
