//! The outcome of a request about many runs.

use everstep_engine::Done;
use everstep_model::RunId;

use super::error::ControlError;

/// The outcome of a bulk request for each run. Every run occurs once.
#[derive(Debug, Default)]
pub struct BulkReport {
    /// The runs, in the order of the request.
    pub runs: Vec<(RunId, Result<Done, ControlError>)>,
}

impl BulkReport {
    /// Returns the number of runs that were changed.
    #[must_use]
    pub fn changed(&self) -> usize {
        let results = self.runs.iter().map(|(_, result)| result);
        results
            .filter(|result| result.as_ref().is_ok_and(Done::changed))
            .count()
    }

    /// Returns the runs with errors.
    pub fn refused(&self) -> impl Iterator<Item = (&RunId, &ControlError)> {
        let runs = self.runs.iter();
        runs.filter_map(|(run, result)| Some((run, result.as_ref().err()?)))
    }
}
