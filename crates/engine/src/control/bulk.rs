//! Applies a verb to many runs.

use std::collections::HashSet;
use std::sync::Arc;

use everstep_model::{Control, RunId, limits};
use everstep_store::ListQuery;
use futures_util::stream::{self, StreamExt};

use super::{Done, RequestOrigin, Revival};
use crate::core::Core;
use crate::error::{ControlError, Unavailable};

/// The number of runs in progress at once.
const AT_ONCE: usize = 64;

/// The progress of a bulk request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The number of runs that were changed.
    #[must_use]
    pub fn changed(&self) -> usize {
        let changed = |result: &Result<Done, _>| result.as_ref().is_ok_and(Done::changed);
        self.runs
            .iter()
            .filter(|(_, result)| changed(result))
            .count()
    }

    /// The runs with errors.
    pub fn refused(&self) -> impl Iterator<Item = (&RunId, &E)> {
        let runs = self.runs.iter();
        runs.filter_map(|(run, result)| Some((run, result.as_ref().err()?)))
    }
}

impl Core {
    /// Applies a verb to a run.
    pub(crate) async fn control(
        self: &Arc<Self>,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        match control {
            Control::Pause => self.pause(run, origin).await,
            Control::Resume => self.resume(run, origin).await,
            Control::Cancel { rollback } => self.cancel(run, rollback, origin).await,
            Control::Terminate => self.terminate(run, origin).await,
            Control::Fail => self.force_fail(run, origin).await,
            Control::Restart => self.revive(run, Revival::Restart, origin).await,
            Control::Recover => self.revive(run, Revival::Recover, origin).await,
            Control::RetryRollback => self.revive(run, Revival::RetryRollback, origin).await,
            Control::Delete => self.delete(run, origin).await,
        }
    }

    /// Returns all runs that match a query. Bulk requests collect them first, because the verb changes
    /// the list.
    pub(crate) async fn listed(&self, mut query: ListQuery) -> Result<Vec<RunId>, Unavailable> {
        query.limit = limits::LIST_PAGE_MAX;
        let mut runs = Vec::new();
        loop {
            let page = self.store.list(query.clone()).await?;
            runs.extend(page.rows.into_iter().map(|row| row.id));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(runs),
            }
        }
    }

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
                let origin = origin.clone();
                async move {
                    let (core, id) = (self.clone(), run.clone());
                    let verb = async move { core.control(&id, control, origin).await };
                    (run, self.to_its_end(verb).await)
                }
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
