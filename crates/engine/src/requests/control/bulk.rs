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
pub(super) const AT_ONCE: usize = 64;

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

impl Controller {
    /// Applies a verb to many runs, and reports each outcome in the order of the runs. A run that
    /// is named twice is processed once.
    pub(crate) async fn bulk(
        self: &Arc<Self>,
        runs: Vec<RunId>,
        control: Control,
        origin: RequestOrigin,
        mut each: impl FnMut(BulkProgress, RunId, Result<Done, ControlError>),
    ) {
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
        while let Some((run, result)) = results.next().await {
            state.done += 1;
            state.refused += usize::from(result.is_err());
            each(state, run, result);
        }
    }
}
