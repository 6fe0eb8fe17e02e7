//! Requests to the engine, one file each: start a run, send it an event, wait for the reply, answer
//! its rpcs, read it, watch it, and control it (`control/`, one file per verb).

mod answer;
mod ask;
pub(crate) mod control;
mod handler;
mod inspect;
mod send;
mod start;
mod watch;

pub use answer::{Answer, Answered};
pub use ask::PendingReply;
pub(crate) use handler::Requests;
pub use inspect::{JournalPage, PageSize, RunInfo};
pub(crate) use send::event_commit;
pub use send::{SendEvent, Sent};
pub use start::{Start, Started};
pub use watch::Records;
