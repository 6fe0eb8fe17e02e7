//! The worker protocol: how processes elsewhere execute runs. One file per message; PROTOCOL.md says what each must do.
//!
//! ```text
//!   POST   /v1/workers                       register   a session begins
//!   POST   /v1/workers/{session}/claim       claim      runs to execute, and news of those it has; waits for them
//!   POST   /v1/workers/{session}/append      append     what happened, of many runs at once
//!   POST   /v1/workers/{session}/read        read       the journal of a run from a record on
//!   POST   /v1/workers/{session}/heartbeat   heartbeat  a sign of life
//!   POST   /v1/workers/{session}/release     release    runs it lets go of
//!   DELETE /v1/workers/{session}             leave      the session ends in good order
//! ```

mod append;
mod claim;
mod journal;
mod register;
mod session;

pub use append::{AppendAnswer, AppendRequest, Left, ObsoleteRow, OneAnswer, OneAppend, ThenWord};
pub use claim::{Assigned, ClaimAnswer, ClaimRequest, Item, News, NewsWord};
pub use journal::{ReadAnswer, ReadRequest, WireEntry, WireRecord};
pub use register::{OfferedWorkflow, RegisterAnswer, RegisterRequest};
pub use session::{Heard, ReleaseRequest};

/// Runs that a worker may execute at once.
pub const SLOTS_MAX: u32 = 100_000;
/// Workflows that a worker may offer.
pub const WORKFLOWS_MAX: usize = 1_000;
/// Characters of a worker's name.
pub const WORKER_NAME_CHARS_MAX: usize = 256;
/// Appends in one request.
pub const APPENDS_MAX: usize = 10_000;

#[cfg(test)]
mod document_tests;
