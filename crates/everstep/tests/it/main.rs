//! The behaviour of the engine through its public API.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod bad_input;
mod batches;
mod bulk;
mod cancelling;
mod control_across_nodes;
mod control_crashes;
mod control_support;
mod declared;
mod deleting;
mod divergence;
mod events;
mod executions;
mod fork_programs;
mod forking;
mod hot_equals_cold;
mod listing;
mod nodes;
mod not_durable;
mod passes;
mod pausing;
mod random_program;
mod recorded;
mod records;
mod replaying;
mod results;
mod retries;
mod reviving;
#[cfg(feature = "schema")]
mod schemas;
mod settling;
mod smoke;
mod starting;
mod steps;
mod store_failures;
mod support;
mod takeovers;
mod terminating;
mod timeouts;
mod timer_order;
mod timers;
mod try_steps;
mod waits;
