//! Reads runs: one run, and why a run makes no progress.

use everstep_inspect::{Overview, Why, why};
use everstep_model::{Entry, Generation, RecordNumber, RunId};
use everstep_store::RunRow;

use super::handler::Requests;
use crate::error::ReadError;
use crate::execution::Parts;
use crate::roles::Role;

/// A run in full.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The row in lists.
    pub row: RunRow,
    /// The state that follows from the journal.
    pub overview: Overview,
}

impl Requests {
    /// Returns a generation of a run, by default the latest.
    pub(crate) async fn inspect(
        &self,
        run: &RunId,
        generation: Option<Generation>,
    ) -> Result<RunInfo, ReadError> {
        let (row, journal) = self.journal(run, generation).await?;
        Ok(RunInfo {
            row,
            overview: Overview::of(&journal),
        })
    }

    pub(crate) async fn journal(
        &self,
        run: &RunId,
        generation: Option<Generation>,
    ) -> Result<(RunRow, Vec<Entry>), ReadError> {
        let (head, row) = self.parts.node.find_any(run, generation).await?;
        let journal = self.parts.node.read_journal(head.number, RecordNumber(0));
        Ok((row, journal.await?))
    }

    pub(crate) async fn why(
        &self,
        run: &RunId,
        generation: Option<Generation>,
    ) -> Result<Why, ReadError> {
        let RunInfo { row, overview } = self.inspect(run, generation).await?;
        // A node without the role `worker` does not know which workers exist.
        let Parts { node, workers, .. } = &*self.parts;
        let offered =
            !node.has(Role::Worker) || workers.executor(&row.workflow, row.version).is_some();
        Ok(why(&overview, offered, node.now()))
    }
}
