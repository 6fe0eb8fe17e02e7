//! The default store: one directory on local disk, no server, one process at a time.
//!
//! ```text
//!   commit(batch) ─▶ stage: judge each commit against staged heads ─▶ one write batch ─▶ one fdatasync
//!                                                                          │
//!   heads in use (memory) ◀── published only then ──────────────────────────┘
//! ```
//!
//! A commit that only appends records writes one row, its frame, and reads nothing: heads of streams in use are kept
//! in memory, and a head that is loaded again takes its counts from the last frame. The bytes are in `docs/format.md`,
//! the choice of the key-value store below (`fjall`) in `docs/adr/0001-fjall.md`.

mod cache;
mod commit;
mod due;
mod effects;
mod extent;
mod failure;
mod folders;
mod format;
mod frames;
mod generations;
mod holes;
mod journal_check;
mod keys;
mod leases;
mod list;
mod manifest_check;
mod members;
mod open;
mod page;
mod pressure;
mod ranges;
mod sets;
mod stage;
mod store;
mod tables;
mod upgrade;
mod values;
mod view;

pub use open::Options;
pub use store::EmbeddedStore;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod damaged_stream_tests;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod golden_tests;
