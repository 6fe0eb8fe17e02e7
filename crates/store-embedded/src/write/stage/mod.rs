//! A batch that is being judged: what its commits have changed so far, on top of what is durable.
//!
//! No reader sees a stage. If the batch cannot be written, the stage is dropped and nothing has
//! happened.

mod batch;
mod overlay;
mod records;
mod removal;
mod sets;
mod write;

pub(crate) use batch::{Stage, Staged};
