//! The worker protocol: how other processes execute runs. One file per message; PROTOCOL.md
//! specifies each.
//!
//! ```text
//!   POST   /v1/workers                       register   begin a session
//!   POST   /v1/workers/{session}/claim       claim      wait for runs to execute and notifications
//!   POST   /v1/workers/{session}/append      append     append records of many runs
//!   POST   /v1/workers/{session}/read        read       read the journal of a run from a record on
//!   POST   /v1/workers/{session}/heartbeat   heartbeat  keep the session alive
//!   POST   /v1/workers/{session}/release     release    release runs
//!   DELETE /v1/workers/{session}             leave      end the session
//! ```

mod append;
mod claim;
mod journal;
mod register;
mod session;

pub use append::{
    AbandonedChild, AppendAnswer, AppendRequest, ObsoleteRow, OneAnswer, OneAppend, ThenWord,
};
pub use claim::{Assigned, ClaimAnswer, ClaimRequest, Item, News, NewsWord};
pub use journal::{ReadAnswer, ReadRequest, WireEntry, WireRecord};
pub use register::{OfferedWorkflow, RegisterAnswer, RegisterRequest};
pub use session::{Acknowledged, ReleaseRequest};

/// Maximum number of runs that a worker executes at the same time.
pub const SLOTS_MAX: u32 = 100_000;
/// Maximum number of workflows that a worker offers.
pub const WORKFLOWS_MAX: usize = 1_000;
/// Maximum length of a worker's name in characters.
pub const WORKER_NAME_CHARS_MAX: usize = 256;
/// Maximum number of appends in one request.
pub const APPENDS_MAX: usize = 10_000;

#[cfg(test)]
mod document_tests;
