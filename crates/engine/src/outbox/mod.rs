//! Effects of one run on another: a child is started, a parent hears of its end, an event is sent, a cancellation flows
//! down.
//!
//! An effect is a row that is written with its cause (`cause.rs`), delivered by a commit that does nothing the second time
//! (`delivery.rs`), and then removed. Whoever wrote it delivers it at once (`pump.rs`, `lane.rs`); whatever a crash left
//! behind is delivered when an engine starts, and by every sweep. Several nodes may deliver the same effect.

mod birth;
mod births;
mod cause;
mod delivery;
pub(crate) mod effect;
mod events;
mod lane;
mod pump;
mod settle;

pub(crate) use birth::Birth;
pub(crate) use cause::{Cause, left_by};
pub(crate) use pump::Outbox;
