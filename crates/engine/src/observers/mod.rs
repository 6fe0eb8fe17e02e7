//! Observers of durable commits: watchers of streams, subscribers of emissions and of ended runs,
//! and failure hooks. They never delay or fail a commit.

mod failures;
mod feeds;
mod watchers;

pub(crate) use failures::FailureHooks;
pub use failures::{FailureEvent, FailureHook};
pub use feeds::{Emission, Emissions, EndedRun, Ending, Endings, Feed};
pub(crate) use watchers::{Watch, Watchers};
