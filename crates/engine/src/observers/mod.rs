//! Observers of durable commits: watchers of streams, subscribers of emissions and of ended runs,
//! and failure hooks. They never delay or fail a commit.

mod emissions;
mod endings;
mod failures;
mod watchers;

pub(crate) use emissions::EmissionSource;
pub use emissions::{Emission, Emissions};
pub(crate) use endings::EndingSource;
pub use endings::{EndedRun, Ending, Endings};
pub(crate) use failures::FailureHooks;
pub use failures::{FailureEvent, FailureHook};
pub(crate) use watchers::{Watch, Watchers};
