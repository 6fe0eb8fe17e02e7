//! Reads journals page by page. The memory that this takes is bounded by a page and by what the
//! caller keeps.

use std::ops::ControlFlow;

use everstep_inspect::Overview;
use everstep_model::{Body, Entry, Record, RecordNumber, StreamNumber};
use everstep_store::{Head, Page, ReadRequest, StoreError};

use crate::node::Node;

/// The number of records of a journal for which memory is reserved before they are read. Loops may
/// have dropped many of them.
const RESERVED_MAX: usize = 500_000;

impl Node {
    /// Reads a page of about `limit` records. `None` if the stream does not exist.
    pub(crate) async fn read(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
        limit: usize,
    ) -> Result<Option<Page>, StoreError> {
        let bytes = self.settings.journal_page_bytes;
        let request = ReadRequest {
            stream,
            from,
            limit,
            bytes,
        };
        self.store.read(request).await
    }

    pub(crate) async fn first_record(
        &self,
        stream: StreamNumber,
    ) -> Result<Option<Entry>, StoreError> {
        let page = self.read(stream, RecordNumber(0), 1).await?;
        Ok(page.and_then(|page| page.entries.into_iter().next()))
    }

    /// Returns the last record of a stream. `None` if the stream was deleted.
    pub(crate) async fn last_record(&self, head: &Head) -> Result<Option<Record>, StoreError> {
        let last = RecordNumber(head.next.0.saturating_sub(1));
        let entry = self.read_journal(head.number, last).await?.pop();
        Ok(entry.map(|entry| entry.record))
    }

    /// Reads the next page of a journal, with the number after its last record. `None` at the end.
    async fn next_page(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
    ) -> Result<Option<(Page, RecordNumber)>, StoreError> {
        let limit = self.settings.journal_page_records;
        let page = self.read(stream, from, limit).await?;
        let Some(page) = page.filter(|page| from < page.end) else {
            return Ok(None);
        };
        let Some(last) = page.entries.last() else {
            let detail = format!("it has no records from {from} to {}", page.end);
            return Err(StoreError::corrupt(format!("stream {stream}"), detail));
        };
        let next = last.number.plus(1);
        Ok(Some((page, next)))
    }

    /// Passes the records of a journal on, in order, from a record on until `visit` breaks.
    pub(crate) async fn visit_journal(
        &self,
        stream: StreamNumber,
        mut from: RecordNumber,
        mut visit: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        while let Some((page, next)) = self.next_page(stream, from).await? {
            from = next;
            for entry in page.entries {
                if visit(entry).is_break() {
                    return Ok(());
                }
            }
            if from >= page.end {
                break;
            }
        }
        Ok(())
    }

    /// Returns the first record with such content.
    pub(crate) async fn find_record(
        &self,
        stream: StreamNumber,
        mut is_wanted: impl FnMut(&Body) -> bool,
    ) -> Result<Option<Entry>, StoreError> {
        let mut found = None;
        let visit = |entry: Entry| match is_wanted(&entry.record.body) {
            true => {
                found = Some(entry);
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        };
        self.visit_journal(stream, RecordNumber(0), visit).await?;
        Ok(found)
    }

    /// Returns the overview of a journal.
    pub(crate) async fn overview(&self, stream: StreamNumber) -> Result<Overview, StoreError> {
        self.fold(stream, |_| {}).await
    }

    /// Returns the overview of a journal without the results of its steps and children and the data
    /// for their undos, which may be large.
    pub(crate) async fn overview_without_results(
        &self,
        stream: StreamNumber,
    ) -> Result<Overview, StoreError> {
        self.fold(stream, remove_result).await
    }

    async fn fold(
        &self,
        stream: StreamNumber,
        change: impl Fn(&mut Entry),
    ) -> Result<Overview, StoreError> {
        let mut overview = Overview::new();
        let visit = |mut entry: Entry| {
            change(&mut entry);
            overview.fold(&entry);
            ControlFlow::Continue(())
        };
        self.visit_journal(stream, RecordNumber(0), visit).await?;
        Ok(overview)
    }

    /// Reads a journal from a record on to its end.
    pub(crate) async fn read_journal(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        let journal = self.read_journal_within(stream, from, u64::MAX).await?;
        Ok(journal.unwrap_or_default())
    }

    /// Reads a journal into memory to execute or copy it. `None` if it is larger than
    /// [`Settings::journal_bytes_max`](crate::Settings::journal_bytes_max).
    pub(crate) async fn read_whole(
        &self,
        stream: StreamNumber,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let bytes_max = self.settings.journal_bytes_max;
        let from = RecordNumber(0);
        self.read_journal_within(stream, from, bytes_max).await
    }

    async fn read_journal_within(
        &self,
        stream: StreamNumber,
        mut from: RecordNumber,
        mut bytes_left: u64,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let mut entries = Vec::new();
        while let Some((page, next)) = self.next_page(stream, from).await? {
            from = next;
            let at_end = from >= page.end;
            let Some(left) = bytes_left.checked_sub(bytes_of(&page.entries)) else {
                return Ok(None);
            };
            bytes_left = left;
            if entries.is_empty() {
                entries = page.entries;
                if !at_end {
                    // Growing step by step would copy a long journal repeatedly.
                    let left = page.end.0.saturating_sub(from.0);
                    let left = usize::try_from(left).unwrap_or(usize::MAX);
                    entries.reserve_exact(left.min(RESERVED_MAX));
                }
            } else {
                entries.extend(page.entries);
            }
            if at_end {
                if entries.capacity() > 2 * entries.len() {
                    entries.shrink_to_fit();
                }
                break;
            }
        }
        Ok(Some(entries))
    }
}

/// Returns about how many bytes records take in memory.
fn bytes_of(entries: &[Entry]) -> u64 {
    let payloads = entries
        .iter()
        .flat_map(|entry| entry.record.body.payloads());
    let payloads: usize = payloads.map(|payload| payload.as_bytes().len()).sum();
    (size_of_val(entries) + payloads) as u64
}

fn remove_result(entry: &mut Entry) {
    let body = &mut entry.record.body;
    match body {
        Body::StepCompleted(_)
        | Body::StepFailed(_)
        | Body::StepSkipped(_)
        | Body::StepEdited(_)
        | Body::ChildFinished(_) => body.remove_payloads(),
        // The others have no result of a step or child.
        _ => {}
    }
}
