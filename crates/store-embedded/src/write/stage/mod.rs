//! A batch that is being judged: the changes of its commits so far, on top of the durable data.
//!
//! Readers do not see a stage. If the batch cannot be written, the stage is dropped without effect.

mod batch;
mod overlay;
mod records;
mod removal;
mod sets;
mod write;

pub(crate) use batch::{Stage, Staged};
