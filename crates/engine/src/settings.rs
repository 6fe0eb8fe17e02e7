//! How an engine behaves, with defaults that nobody has to think about.

use std::time::Duration;

use everstep_model::limits;

use crate::retention::Retention;
use crate::roles::Roles;

/// Settings of an engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What this node does. Nodes that do not do everything need others that do the rest, on a store they share.
    pub roles: Roles,
    /// Runs kept in memory after they suspend.
    pub hot_runs_max: usize,
    /// How long a suspended run stays in memory.
    pub hot_idle_max: Duration,
    /// How long a node stays alive without renewing its lease.
    pub lease_ttl: Duration,
    /// How often the store is searched for runs that nobody executes; a safety net, not the way runs are woken.
    pub sweep_interval: Duration,
    /// Timers due within this time are kept in memory.
    pub timer_horizon: Duration,
    /// Timers kept in memory.
    pub timers_in_memory_max: usize,
    /// How long finished runs are kept.
    pub retention: Retention,
    /// How often runs that are kept no longer are looked for.
    pub retention_interval: Duration,
    /// How long shutting down waits for steps in flight.
    pub shutdown_grace: Duration,
    /// How long records that nothing waits for may stay unwritten while a step runs.
    pub lazy_flush: Duration,
    /// Records of a journal above which the engine warns that replay grows slow. Nothing else happens then.
    pub journal_records_warn: u64,
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
            development: false,
        }
    }
}
