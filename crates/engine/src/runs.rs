//! Reads runs from the store: the generation that a request is about, and journals.

use everstep_model::{Entry, Generation, Record, RecordNumber, RunId, StreamName, StreamNumber};
use everstep_store::{
    Head, OutboxRow, Page, ReadRequest, Row, RowKey, RunRow, StoreError, StreamRef,
};

use crate::error::{OtherGeneration, ReadError, UnknownGeneration, UnknownRun};
use crate::node::Node;

/// The number of records read from the store at once.
const READ_PAGE: usize = 10_000;
/// The number of effects read from the store at once.
const OUTBOX_PAGE: usize = 1_000;
/// The number of effects of a run read from the store at once. Few runs have more.
const OUTBOX_OF_RUN_PAGE: usize = 64;
/// The number of records of a journal for which memory is reserved before they are read. Loops may
/// have dropped many of them.
const RESERVED_MAX: usize = 500_000;

impl Node {
    pub(crate) async fn head(&self, stream: StreamNumber) -> Result<Option<Head>, StoreError> {
        self.store.head(StreamRef::Number(stream)).await
    }

    pub(crate) async fn generation(
        &self,
        run: &RunId,
        generation: Generation,
    ) -> Result<Option<Head>, StoreError> {
        let name = StreamName::of_run(run, generation);
        self.store.head(StreamRef::Name(name)).await
    }

    /// Returns the latest generation of a run. Only a run whose first generation is closed can have
    /// another.
    pub(crate) async fn latest(&self, run: &RunId) -> Result<Option<(Head, RunRow)>, StoreError> {
        let mut head = self.generation(run, Generation::FIRST).await?;
        if head.as_ref().is_some_and(|head| head.closed)
            && let Some(Row::Generation(latest)) =
                self.store.row(RowKey::Generation(run.clone())).await?
        {
            head = self.head(latest.stream).await?;
        }
        Ok(head.and_then(|head| {
            let row = head.run.as_deref()?.clone();
            Some((head, row))
        }))
    }

    /// Returns the latest generation of a run, which must exist.
    pub(crate) async fn find(&self, run: &RunId) -> Result<(Head, RunRow), ReadError> {
        let found = self.latest(run).await?;
        found.ok_or_else(|| UnknownRun(run.clone()).into())
    }

    /// Returns a generation of a run, by default the latest.
    pub(crate) async fn find_any(
        &self,
        run: &RunId,
        generation: Option<Generation>,
    ) -> Result<(Head, RunRow), ReadError> {
        let Some(generation) = generation else {
            return self.find(run).await;
        };
        let head = self.generation(run, generation).await?;
        let found = head.and_then(|head| {
            let row = head.run.as_deref()?.clone();
            Some((head, row))
        });
        let Some(found) = found else {
            self.find(run).await?;
            let run = run.clone();
            return Err(UnknownGeneration { run, generation }.into());
        };
        Ok(found)
    }

    /// Returns the latest generation of a run, and fails if the request names another one. A commit
    /// to its stream is refused once that generation is closed, because the next one has its own
    /// stream.
    pub(crate) async fn find_generation<E: From<ReadError> + From<OtherGeneration>>(
        &self,
        run: &RunId,
        meant: Option<Generation>,
    ) -> Result<(Head, RunRow), E> {
        let (head, row) = self.find(run).await?;
        match meant {
            Some(meant) if meant != row.generation => {
                let (run, latest) = (run.clone(), row.generation);
                Err(OtherGeneration { run, meant, latest }.into())
            }
            Some(_) | None => Ok((head, row)),
        }
    }

    /// Reads about `limit` records. `None` if the stream does not exist.
    pub(crate) async fn read(
        &self,
        stream: StreamNumber,
        from: RecordNumber,
        limit: usize,
    ) -> Result<Option<Page>, StoreError> {
        let bytes = usize::MAX;
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

    /// Reads a journal from a record on to its end.
    pub(crate) async fn read_journal(
        &self,
        stream: StreamNumber,
        mut from: RecordNumber,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        loop {
            let Some(page) = self.read(stream, from, READ_PAGE).await? else {
                return Ok(entries);
            };
            let Some(last) = page.entries.last() else {
                return Ok(entries);
            };
            from = last.number.plus(1);
            let at_end = from >= page.end;
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
                return Ok(entries);
            }
        }
    }

    /// Reads the next page of effects that are not delivered yet, and moves `after` to its end.
    pub(crate) async fn outbox_after(
        &self,
        after: &mut Option<(StreamNumber, String)>,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let page = self.store.outbox(after.take(), OUTBOX_PAGE).await?;
        *after = page.last().map(|row| (row.stream, row.key.clone()));
        Ok(page)
    }

    /// Reads the effects of a run on others that are not delivered yet.
    pub(crate) async fn outbox_of(
        &self,
        stream: StreamNumber,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let before = StreamNumber(stream.0.saturating_sub(1));
        let mut after = Some((before, char::MAX.to_string()));
        let mut rows: Vec<OutboxRow> = Vec::new();
        loop {
            let page = self.store.outbox(after, OUTBOX_OF_RUN_PAGE).await?;
            let known = rows.len();
            rows.extend(page.into_iter().filter(|row| row.stream == stream));
            if rows.len() - known < OUTBOX_OF_RUN_PAGE {
                return Ok(rows);
            }
            after = rows.last().map(|row| (row.stream, row.key.clone()));
        }
    }
}
