//! The in-memory store: the reference that every other backend is compared with, and the store of
//! tests and simulations.
//!
//! It keeps everything in ordered maps under one lock and prefers simplicity to speed. Nothing
//! survives the process.

mod answers;
mod read;
mod state;
mod store;
mod write;

pub use store::MemoryStore;
