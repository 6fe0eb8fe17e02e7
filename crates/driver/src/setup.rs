//! What an activation begins with.

use everstep_model::{Generation, RunId};

/// What an activation begins with.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct Setup {
    pub run: RunId,
    pub generation: Generation,
    /// How often the function may be executed again, unless the run has its own setting.
    pub execution_retries: Option<u32>,
    /// Keeps call sites and takes a second look before the run is suspended or ends.
    pub development: bool,
    /// Whether the last executor of the run died without progress. The start of each attempt is
    /// then durable before the attempt begins, until the run makes progress.
    pub cautious: bool,
}
