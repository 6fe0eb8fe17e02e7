//! Timers: the near future in memory (`queue.rs`), the rest in the store, and the task that fires
//! them (`firing.rs`).

mod firing;
mod queue;

pub(crate) use firing::TimerTask;
pub(crate) use queue::TimerQueue;
