//! Settings of an engine, with defaults for production.

use std::time::Duration;

use everstep_model::{RecordFeed, limits};

use crate::retention::Retention;
use crate::roles::Roles;

/// Settings of an engine.
#[derive(Clone, Debug)]
// Large type: one field for each setting.
pub struct Settings {
    /// The roles of this node. If it does not have all roles, other nodes on the same store must
    /// have the rest.
    pub roles: Roles,
    /// The maximum number of suspended runs in memory.
    pub hot_runs_max: usize,
    /// How long a suspended run stays in memory.
    pub hot_idle_max: Duration,
    /// How long a lease is valid without renewal.
    pub lease_ttl: Duration,
    /// The interval at which the store is searched for ready runs without executor, in case hints
    /// get lost.
    pub sweep_interval: Duration,
    /// Timers due within this time are kept in memory.
    pub timer_horizon: Duration,
    /// The maximum number of timers in memory.
    pub timers_in_memory_max: usize,
    /// How long finished runs are kept.
    pub retention: Retention,
    /// The interval at which expired runs are deleted.
    pub retention_interval: Duration,
    /// How long a shutdown waits for running steps.
    pub shutdown_grace: Duration,
    /// How long lazy records may stay unwritten while a step runs.
    pub lazy_flush: Duration,
    /// The number of records above which a journal causes a warning that replay is slow.
    pub journal_records_warn: u64,
    /// The approximate number of bytes of a journal above which this node does not execute or copy
    /// a run, because that would use up its memory. Such a run is paused.
    pub journal_bytes_max: u64,
    /// The maximum number of records of a journal read from the store at once.
    pub journal_page_records: usize,
    /// The approximate number of bytes of a journal read from the store at once.
    pub journal_page_bytes: usize,
    /// The feeds that this engine writes. All nodes on a store must have the same.
    pub feeds: Vec<RecordFeed>,
    /// The approximate number of records that a feed keeps.
    pub feed_records_max: u64,
    /// Whether each activation is replayed a second time, to find hidden nondeterminism.
    pub development: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            roles: Roles::ALL,
            hot_runs_max: 10_000,
            hot_idle_max: Duration::from_secs(60),
            lease_ttl: Duration::from_secs(10),
            sweep_interval: Duration::from_secs(30),
            timer_horizon: Duration::from_secs(60),
            timers_in_memory_max: 100_000,
            retention: Retention::forever(),
            retention_interval: Duration::from_secs(3_600),
            shutdown_grace: Duration::from_secs(10),
            lazy_flush: Duration::from_millis(5),
            journal_records_warn: limits::JOURNAL_RECORDS_WARN,
            journal_bytes_max: limits::JOURNAL_BYTES_MAX,
            journal_page_records: 10_000,
            journal_page_bytes: 4 * 1024 * 1024,
            feeds: Vec::new(),
            feed_records_max: 1_000_000,
            development: false,
        }
    }
}
