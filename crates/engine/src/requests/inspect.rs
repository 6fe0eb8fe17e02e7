//! Reads runs: one run, and why a run makes no progress.

use std::ops::ControlFlow;

use everstep_inspect::{Overview, Why, why_with_status};
use everstep_model::{Body, Entry, Generation, RecordNumber, RunId, Timestamp};
use everstep_store::{ReadRequest, RunRow};

use super::handler::Requests;
use crate::error::{ReadError, UnknownRun};
use crate::execution::Parts;
use crate::roles::Role;

/// A run in full.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The row in lists.
    pub row: RunRow,
    /// The state that follows from the journal. It holds the results of all steps.
    pub overview: Overview,
}

/// Consecutive records of a journal.
#[derive(Clone, Debug)]
pub struct JournalPage {
    /// The row in lists.
    pub row: RunRow,
    /// In the order of the journal.
    pub entries: Vec<Entry>,
    /// When the journal began. `None` if it is empty.
    pub began_at: Option<Timestamp>,
    /// The number after the last record of the journal.
    pub end: RecordNumber,
    /// Whether no record follows the last one.
    pub is_closed: bool,
}

/// How much of a journal to read.
#[derive(Clone, Copy, Debug)]
pub struct PageSize {
    /// The maximum number of records.
    pub records: usize,
    /// The approximate size of the records in bytes.
    pub bytes: usize,
}

impl Requests {
    /// Reads a part of the journal of a generation of a run, by default the latest.
    pub(crate) async fn journal_page(
        &self,
        run: &RunId,
        generation: Option<Generation>,
        from: RecordNumber,
        size: PageSize,
    ) -> Result<JournalPage, ReadError> {
        let node = &self.parts.node;
        let (head, row) = node.find_any(run, generation).await?;
        let request = ReadRequest {
            stream: head.number,
            from,
            limit: size.records,
            bytes: size.bytes,
        };
        let page = node.store.read(request).await?;
        let page = page.ok_or_else(|| UnknownRun(run.clone()))?;
        let first = match from.0 {
            0 => page.entries.first().cloned(),
            _ => node.first_record(head.number).await?,
        };
        Ok(JournalPage {
            row,
            began_at: first.map(|first| first.record.time),
            entries: page.entries,
            end: page.end,
            is_closed: page.closed,
        })
    }

    /// Returns a generation of a run, by default the latest.
    pub(crate) async fn inspect(
        &self,
        run: &RunId,
        generation: Option<Generation>,
    ) -> Result<RunInfo, ReadError> {
        let (head, row) = self.parts.node.find_any(run, generation).await?;
        let overview = self.parts.node.overview(head.number).await?;
        Ok(RunInfo { row, overview })
    }

    /// Passes the records of a generation of a run, by default the latest, on in order, until
    /// `visit` breaks. Returns the row of the generation.
    pub(crate) async fn visit_journal(
        &self,
        run: &RunId,
        generation: Option<Generation>,
        visit: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<RunRow, ReadError> {
        let (head, row) = self.parts.node.find_any(run, generation).await?;
        let node = &self.parts.node;
        node.visit_journal(head.number, RecordNumber(0), visit)
            .await?;
        Ok(row)
    }

    /// Returns the first record of the latest generation of a run with such content.
    pub(crate) async fn find_record(
        &self,
        run: &RunId,
        is_wanted: impl FnMut(&Body) -> bool,
    ) -> Result<Option<Entry>, ReadError> {
        let (head, _) = self.parts.node.find(run).await?;
        Ok(self.parts.node.find_record(head.number, is_wanted).await?)
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
        let (head, row) = self.parts.node.find_any(run, generation).await?;
        let overview = self.parts.node.overview_without_results(head.number);
        let overview = overview.await?;
        // A node without the role `worker` does not know which workers exist.
        let Parts { node, workers, .. } = &*self.parts;
        let offered =
            !node.has(Role::Worker) || workers.executor(&row.workflow, row.version).is_some();
        let status = overview.status_in(row.status);
        Ok(why_with_status(&overview, status, offered, node.now()))
    }
}
