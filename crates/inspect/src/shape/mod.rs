//! The structure of a run as a tree: which operations it called, in which order, inside which
//! scopes, and their status.
//!
//! A shape is built from the journal alone, so it shows the path that the run took, not all paths
//! of the code. Locations name the structure: `order/~3/ship/charge:0` is inside a branch, an
//! iteration and a loop. The iterations of a loop are merged, so the size of a shape depends on the
//! code and not on the age of the run. Every sequence of records has a shape, and compaction does
//! not change it.

mod build;
mod draft;
mod iterations;
mod mermaid;
mod node;
mod records;
mod status;
#[cfg(test)]
mod tests;

pub use build::shape;
pub use mermaid::to_mermaid;
pub use node::{Node, NodeKind, NodeStatus, Shape};
