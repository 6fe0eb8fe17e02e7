//! One case that was simulated and judged.

use super::case::Played;
use super::complaint::Complaint;
use super::plan::Plan;

/// A case that was simulated and judged.
pub(super) struct Attempt {
    pub(super) played: Played,
    /// None if the case passed.
    pub(super) complaint: Option<Complaint>,
}

/// Simulates a case and judges it.
pub(super) type Try<'a> = &'a dyn Fn(&Plan) -> Attempt;
