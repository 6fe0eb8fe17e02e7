//! Execution of runs on this node: which runs it may claim (`parts.rs`), how a claimed run is
//! executed (`dispatch.rs`, `seat.rs`, `mailbox.rs`), which runs stay in memory (`resident.rs`,
//! `eviction.rs`), what is delivered to them (`inbox.rs`), and what happens to the runs of nodes
//! that died (`lease.rs`, `recovery.rs`, `probation.rs`).

mod dispatch;
mod eviction;
mod inbox;
mod lease;
mod mailbox;
mod parts;
mod probation;
mod recovery;
mod resident;
mod seat;

pub(crate) use dispatch::{Claimed, Dispatcher};
pub(crate) use eviction::evict_idle;
pub(crate) use lease::NodeLease;
pub(crate) use parts::Parts;
pub(crate) use probation::Probations;
pub(crate) use recovery::Recovery;
pub(crate) use resident::ResidentRuns;
