//! Random workflows: an uninterrupted execution and a replay of the journal see the same results,
//! whatever happens to the run. A separate test binary, because it runs many cases with
//! optimisations and builds quickly.
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
