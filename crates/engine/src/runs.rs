//! Reads runs from the store: the generation that a request is about, and its effects.

use everstep_model::{Generation, RunId, StreamName, StreamNumber};
use everstep_store::{Head, OutboxRow, Row, RowKey, RunRow, StoreError, StreamRef};

use crate::error::{OtherGeneration, ReadError, UnknownGeneration, UnknownRun};
use crate::node::Node;

/// The number of effects read from the store at once.
const OUTBOX_PAGE: usize = 1_000;
/// The number of effects of a run read from the store at once. Few runs have more.
const OUTBOX_OF_RUN_PAGE: usize = 64;

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
