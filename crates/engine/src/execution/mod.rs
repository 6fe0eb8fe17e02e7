//! Execution of runs on this node: which runs it may claim (`claims.rs`), how a claimed run is
//! executed (`dispatch.rs`, `seat.rs`, `mailbox.rs`), which runs stay in memory (`resident.rs`,
//! `eviction.rs`), what is delivered to them (`inbox.rs`), and what happens to the runs of nodes
//! that died (`lease.rs`, `recovery.rs`).

mod claims;
mod dispatch;
mod eviction;
mod inbox;
mod lease;
mod mailbox;
mod recovery;
mod resident;
mod seat;

pub(crate) use claims::Claims;
pub(crate) use dispatch::{Claimed, Dispatcher};
pub(crate) use eviction::evict_idle;
pub(crate) use inbox::Inbox;
pub(crate) use lease::NodeLease;
pub(crate) use recovery::Recovery;
pub(crate) use resident::ResidentRuns;
pub(crate) use seat::Executors;
