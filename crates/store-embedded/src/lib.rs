//! The default store: one directory on local disk, used by one process at a time.
//!
//! ```text
//!   commit(batch) ─▶ stage: judge each commit against staged heads ─▶ one write batch ─▶ one fdatasync
//!                                                                          │
//!   heads in use (memory) ◀── published only then ──────────────────────────┘
//! ```
//!
//! A commit that only appends records writes one row, its frame, and reads nothing: heads of
//! streams in use are kept in memory, and a head that is loaded again takes its counts from the
//! last frame. The bytes are in `docs/format.md`, the choice of the key-value store below (`fjall`)
//! in `docs/adr/0001-fjall.md`.

mod directory;
mod encoding;
mod failure;
mod generations;
mod open;
mod options;
mod read;
mod salvage;
mod sets;
mod state;
mod storage;
mod store;
mod upgrade;
mod write;

pub use options::Options;
pub use salvage::{CheckReport, Damage, LostStream, SalvageReport, check, salvage};
pub use store::EmbeddedStore;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod damaged_stream_tests;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod golden_tests;
