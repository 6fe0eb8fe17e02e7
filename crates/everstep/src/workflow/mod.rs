//! Workflows and their registration: the trait, the list that engines and workers are given, and
//! the registry that executes their runs in this process.

mod definition;
mod registry;
mod workflow_trait;
mod workflows;

#[cfg(any(feature = "remote", feature = "testing"))]
pub(crate) use definition::Definition;
pub(crate) use registry::Registry;
pub use workflow_trait::Workflow;
pub use workflows::{RegisterError, Workflows};
