//! What the overview knows of a location.

use everstep_model::RecordNumber;

/// The operation at a location. The first record about a location decides its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// The first record about the location.
    pub(super) first: RecordNumber,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Step {
        /// Index in `Overview::steps`.
        index: usize,
        /// The pass of the function in which the step last changed.
        execution: u32,
    },
    /// A wait, sleep, rpc or child, whether open or closed.
    Other,
}
