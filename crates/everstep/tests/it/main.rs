//! The behaviour of the engine through its public API.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod bad_input;
mod batches;
mod crash_points;
mod declared;
mod divergence;
mod events;
mod executions;
mod hot_equals_cold;
mod listing;
mod nodes;
mod not_durable;
mod passes;
mod random_program;
mod random_undos;
mod recorded;
mod records;
mod replaying;
mod results;
mod retries;
mod sagas;
mod sagas_at_rest;
mod sagas_control;
mod sagas_crashes;
mod sagas_explicit;
mod sagas_races;
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
