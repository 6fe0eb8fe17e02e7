//! The verbs in bulk: many runs by filter or by id, each reported on.

use std::collections::HashSet;
use std::sync::Arc;

use everstep_model::{Control, RunId, limits};
use everstep_store::ListQuery;
use futures_util::stream::{self, StreamExt};

use super::{Asked, Done, Revival};
use crate::core::Core;
use crate::error::{ControlError, Unavailable};

/// Runs that are worked on at once.
const AT_ONCE: usize = 64;

/// How far a bulk request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkProgress {
    /// Runs that are dealt with.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// Of those dealt with, how many were refused or failed.
    pub refused: usize,
}

/// What a bulk request did: per run, what became of it or why it was refused. Each run is there once.
#[derive(Debug)]
pub struct BulkReport<E = ControlError> {
    /// The runs, in the order they were listed or named.
    pub runs: Vec<(RunId, Result<Done, E>)>,
}

impl<E> Default for BulkReport<E> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<E> BulkReport<E> {
    /// How many runs were changed.
    #[must_use]
    pub fn changed(&self) -> usize {
        let changed = |result: &Result<Done, _>| result.as_ref().is_ok_and(Done::changed);
        self.runs
            .iter()
            .filter(|(_, result)| changed(result))
            .count()
    }

    /// The runs that were refused, and why.
    pub fn refused(&self) -> impl Iterator<Item = (&RunId, &E)> {
        let runs = self.runs.iter();
        runs.filter_map(|(run, result)| Some((run, result.as_ref().err()?)))
    }
}

impl Core {
    /// Does one thing with one run.
    pub(crate) async fn control(
        self: &Arc<Self>,
        run: &RunId,
        control: Control,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        match control {
            Control::Pause => self.pause(run, asked).await,
            Control::Resume => self.resume(run, asked).await,
            Control::Cancel { rollback } => self.cancel(run, rollback, asked).await,
            Control::Terminate => self.terminate(run, asked).await,
            Control::Fail => self.force_fail(run, asked).await,
            Control::Restart => self.revive(run, Revival::Restart, asked).await,
            Control::Recover => self.revive(run, Revival::Recover, asked).await,
            Control::RetryRollback => self.revive(run, Revival::RetryRollback, asked).await,
            Control::Delete => self.delete(run, asked).await,
        }
    }

    /// Every run that a list shows. They are gathered first, because what is done with them changes the list.
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

    /// Does one thing with many runs. A run that is named twice is dealt with once.
    pub(crate) async fn bulk(
        self: &Arc<Self>,
        runs: Vec<RunId>,
        control: Control,
        asked: Asked,
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
                let asked = asked.clone();
                async move {
                    let (core, id) = (self.clone(), run.clone());
                    let verb = async move { core.control(&id, control, asked).await };
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
