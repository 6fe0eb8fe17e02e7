//! Type parameters of operations that select their output.

/// Waits as long as it takes: the output is the value.
#[derive(Debug)]
pub enum Required {}

/// Gives up at some point: the output is an `Option` of the value, the same on every replay.
#[derive(Debug)]
pub enum Optional {}

/// Takes several values at once: the output is a `Vec`.
#[derive(Debug)]
pub enum Batch {}

/// Does not wait: the output is the id of the child.
#[derive(Debug)]
pub enum Detached {}
