//! Delivery of effects of one run on another: start a child, report its end to the parent, send an
//! event, pass on a cancellation.
//!
//! An effect is a row that is written in the same commit as its cause
//! (`commit/projection/cause.rs`), delivered by a commit that is idempotent (`delivery.rs`), and
//! then removed. The node that wrote it delivers it at once (`pump.rs`, `queue.rs`); effects left
//! by a crash are delivered when an engine starts, and by every sweep. Several nodes may deliver
//! the same effect.

mod delivery;
mod events;
mod flush;
mod pump;
mod queue;
mod routes;

pub(crate) use delivery::Deliverer;
pub(crate) use pump::OutboxPump;
pub(crate) use queue::OutboxQueue;
