//! The state of a run at the time of a control request.

use everstep_inspect::Overview;
use everstep_model::{Entry, Record, RecordNumber, RunId, RunStatus};
use everstep_store::{Head, Refusal, RunRow};

use super::done::{Because, Done, Effect};
use crate::error::{ControlError, ReadError, UnreadableJournal};
use crate::node::Node;

pub(super) struct RunState {
    pub(super) head: Head,
    pub(super) row: RunRow,
    /// The state that follows from the journal, without the results of steps.
    pub(super) overview: Overview,
}

impl RunState {
    /// Reads the latest generation of a run.
    pub(super) async fn read(node: &Node, run: &RunId) -> Result<Self, ReadError> {
        let (head, row) = node.find(run).await?;
        let overview = node.overview_without_results(head.number).await?;
        Ok(Self {
            head,
            row,
            overview,
        })
    }

    /// Returns the end of the journal when it was read.
    pub(super) fn end(&self) -> RecordNumber {
        RecordNumber(self.overview.records)
    }

    /// Returns the status of the run after these records. A run that has something to do is
    /// `queued`: the store knows whether a node holds it, and then makes it `running`.
    pub(super) fn status_with(&self, records: &[Record]) -> RunStatus {
        let mut overview = self.overview.clone();
        for (index, record) in records.iter().enumerate() {
            overview.fold(&Entry {
                number: self.end().plus(index),
                record: record.clone(),
            });
        }
        match overview.status() {
            RunStatus::Running => RunStatus::Queued,
            status => status,
        }
    }

    pub(super) fn nothing(&self, because: Because) -> Done {
        let status = self.overview.status_in(self.row.status);
        Done::of(&self.row, status, Effect::Nothing(because))
    }
}

/// Returns the error of a refusal that the store should never return here.
pub(super) fn unexpected(run: &RunId, refusal: &Refusal) -> ControlError {
    UnreadableJournal {
        run: run.clone(),
        detail: refusal.to_string(),
    }
    .into()
}
