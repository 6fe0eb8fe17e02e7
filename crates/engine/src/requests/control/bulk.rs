//! Applies a verb to many runs.

use std::collections::HashSet;
use std::sync::Arc;

use everstep_model::{Control, RunId};
use futures_util::stream::{self, StreamExt};

use super::controller::Controller;
use super::done::{Done, RequestOrigin};
use super::verbs::Verb;
use crate::error::ControlError;

/// The number of runs in progress at once.
const AT_ONCE: usize = 64;

/// The progress of a bulk request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct BulkProgress {
    /// Processed runs.
    pub done: usize,
    /// All runs of the request.
    pub total: usize,
    /// Processed runs with an error.
    pub refused: usize,
}

/// The outcome of a bulk request for each run. Every run occurs once.
#[derive(Debug)]
pub struct BulkReport<E = ControlError> {
    /// The runs, in the order of the request.
    pub runs: Vec<(RunId, Result<Done, E>)>,
}

impl<E> Default for BulkReport<E> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<E> BulkReport<E> {
    /// Returns the number of runs that were changed.
    #[must_use]
    pub fn changed(&self) -> usize {
        let changed = |result: &Result<Done, _>| result.as_ref().is_ok_and(Done::changed);
        self.runs
            .iter()
            .filter(|(_, result)| changed(result))
            .count()
    }

    /// Returns the runs with errors.
    pub fn refused(&self) -> impl Iterator<Item = (&RunId, &E)> {
        let runs = self.runs.iter();
        runs.filter_map(|(run, result)| Some((run, result.as_ref().err()?)))
    }
}

impl Controller {
    /// Applies a verb to many runs. A run that is named twice is processed once.
    pub(crate) async fn bulk(
        self: &Arc<Self>,
        runs: Vec<RunId>,
        control: Control,
        origin: RequestOrigin,
        mut progress: impl FnMut(BulkProgress),
    ) -> BulkReport {
        let mut known = HashSet::new();
        let runs: Vec<RunId> = runs
            .into_iter()
            .filter(|run| known.insert(run.clone()))
            .collect();
        let mut state = BulkProgress {
            done: 0,
            total: runs.len(),
            refused: 0,
        };
        let mut results = stream::iter(runs)
            .map(|run| {
                let verb = Verb::Control(run.clone(), control);
                let done = self.perform(verb, origin.clone());
                async move { (run, done.await) }
            })
            .buffered(AT_ONCE);
        let mut report = BulkReport::default();
        while let Some((run, result)) = results.next().await {
            state.done += 1;
            state.refused += usize::from(result.is_err());
            report.runs.push((run, result));
            progress(state);
        }
        report
    }
}
