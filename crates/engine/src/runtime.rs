//! Time, randomness and tasks. They are injected, so that simulations can control them.

use std::time::Duration;

use everstep_store::{BoxFuture, Clock, Store};

/// The environment of an engine.
pub trait Runtime: Clock {
    /// Completes when at least `duration` has passed.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Returns a random number.
    fn random(&self) -> u64;

    /// Returns the time since an arbitrary moment, on a monotonic clock.
    fn elapsed(&self) -> Duration;

    /// Spawns a task.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Runs work that occupies its thread for a while. Production runs it on a thread of its own,
    /// so that it holds up no task.
    fn run_blocking(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        work
    }

    /// Spawns the committer, which blocks in syncs and therefore needs a thread of its own, unless
    /// the store runs it on one ([`Store::host`]).
    fn spawn_committer(&self, task: BoxFuture<'static, ()>, store: &dyn Store);
}
