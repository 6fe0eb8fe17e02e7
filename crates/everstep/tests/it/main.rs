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
mod child_policies;
mod children;
mod clock_jumps;
mod compaction;
mod compaction_undos;
mod control_across_nodes;
mod control_crashes;
mod control_families;
mod control_support;
mod crash_after_commit;
mod crash_points;
mod death;
mod declared;
mod deleting;
mod divergence;
mod ephemeral;
mod event_forms;
mod events;
mod every_commit;
mod executions;
mod failure_hooks;
mod family_control;
mod forking;
mod joins;
mod listing;
mod loop_takeover;
mod loops;
mod messages;
mod namesakes;
mod nodes;
mod not_durable;
mod outbox;
mod passes;
mod pausing;
mod races;
mod records;
mod refused_appends;
mod refused_pauses;
mod registration;
#[cfg(feature = "remote")]
mod remote_claims;
mod remote_queue;
mod remote_workers;
mod removed;
mod replaying;
mod requests;
mod results;
mod retries;
mod revived_inbox;
mod reviving;
mod sagas;
mod sagas_at_rest;
mod sagas_child_passes;
mod sagas_children;
mod sagas_control;
mod sagas_crashes;
mod sagas_explicit;
mod sagas_races;
#[cfg(feature = "schema")]
mod schemas;
#[cfg(feature = "remote")]
mod served;
mod settling;
mod simulating;
mod slow_store;
mod smoke;
mod starting;
mod step_limit;
mod steps;
mod store_failures;
mod support;
mod switches;
mod takeovers;
mod terminating;
mod timeouts;
mod timer_order;
mod timers;
mod try_scopes;
mod try_steps;
mod waits;
