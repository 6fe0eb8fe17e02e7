//! Reads runs: one run, a page of the list, and why a run makes no progress.

use everstep_inspect::{Overview, Why, why};
use everstep_model::{Entry, RecordNumber, RunId};
use everstep_store::{ListPage, ListQuery, RunRow, StoreError};

use crate::core::Core;
use crate::error::ReadError;
use crate::roles::Role;

/// A run in full.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The row in lists.
    pub row: RunRow,
    /// The state that follows from the journal.
    pub overview: Overview,
}

impl Core {
    pub(crate) async fn inspect(&self, run: &RunId) -> Result<RunInfo, ReadError> {
        let (row, journal) = self.journal(run).await?;
        Ok(RunInfo {
            row,
            overview: Overview::of(&journal),
        })
    }

    pub(crate) async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<Entry>), ReadError> {
        let (head, row) = self.find(run).await?;
        let journal = self.read_journal(head.number, RecordNumber(0)).await?;
        Ok((row, journal))
    }

    pub(crate) async fn why(&self, run: &RunId) -> Result<Why, ReadError> {
        let info = self.inspect(run).await?;
        // A node without the role `worker` does not know which workers exist.
        let offered =
            !self.is(Role::Worker) || self.worker(&info.row.workflow, info.row.version).is_some();
        Ok(why(&info.overview, offered))
    }

    pub(crate) async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        self.store.list(query).await
    }
}
