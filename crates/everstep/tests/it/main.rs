//! The behaviour of the engine through its public API.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod bad_input;
mod batches;
mod compaction;
mod declared;
mod divergence;
mod events;
mod executions;
mod hot_equals_cold;
mod listing;
mod loops;
mod nodes;
mod not_durable;
mod passes;
mod random_program;
mod recorded;
mod records;
mod removed;
mod replaying;
mod results;
mod retries;
#[cfg(feature = "schema")]
mod schemas;
mod smoke;
mod starting;
mod steps;
mod store_failures;
mod support;
mod takeovers;
mod timeouts;
mod timer_order;
mod timers;
mod try_steps;
mod waits;
