//! User streams on real stores: each verb, and random requests compared with a simple model. Also
//! long journals, timers, and workers that are added and removed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod expiring;
mod listing;
mod long_journals;
mod model;
mod offering;
mod random_requests;
mod reading_live;
mod support;
mod timers;
mod two_nodes;
mod verbs;
