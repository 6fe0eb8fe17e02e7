//! What the engine needs from the outside: time, randomness, tasks. Injected, so that simulations can drive it.

use std::time::Duration;

use everstep_store::{BoxFuture, Clock};

/// Time, randomness and tasks.
pub trait Runtime: Clock {
    /// Completes when at least `duration` has passed.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// A random number.
    fn random(&self) -> u64;

    /// The time that has passed since some moment. Nobody sets this clock, so it never jumps and never goes back.
    fn elapsed(&self) -> Duration;

    /// Runs a task among many.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Runs the one task that blocks in syncs; a real runtime gives it a thread of its own.
    fn spawn_committer(&self, task: BoxFuture<'static, ()>);
}
