//! One case that was simulated and judged.

use super::case::CaseResult;
use super::case_failure::CaseFailure;
use super::plan::Plan;

/// A case that was simulated and judged.
pub(super) struct Attempt {
    pub(super) case_result: CaseResult,
    /// None if the case passed.
    pub(super) failure: Option<CaseFailure>,
}

/// Simulates a case and judges it.
pub(super) type Try<'a> = &'a dyn Fn(&Plan) -> Attempt;
