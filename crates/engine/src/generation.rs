//! Finds the generation of a run that a request is about. An id alone means the latest.

use everstep_model::{Generation, RunId, StreamName};
use everstep_store::{Head, Row, RowKey, RunRow, StreamRef};

use crate::core::Core;
use crate::error::{OtherGeneration, ReadError, UnknownRun};

impl Core {
    /// Returns the latest generation of a run. Only a run whose first generation is closed can have
    /// another.
    pub(crate) async fn find(&self, run: &RunId) -> Result<(Head, RunRow), ReadError> {
        let name = StreamName::of_run(run, Generation::FIRST);
        let mut head = self.store.head(StreamRef::Name(name)).await?;
        if head.as_ref().is_some_and(|head| head.closed)
            && let Some(Row::Generation(latest)) =
                self.store.row(RowKey::Generation(run.clone())).await?
        {
            head = self.store.head(StreamRef::Number(latest.stream)).await?;
        }
        let found = head.and_then(|head| {
            let row = head.run.as_deref()?.clone();
            Some((head, row))
        });
        found.ok_or_else(|| UnknownRun(run.clone()).into())
    }

    /// Returns the latest generation of a run, and fails if the request names another one. A commit
    /// to its stream is refused once that generation is closed, because the next one has its own
    /// stream.
    pub(crate) async fn find_meant<E: From<ReadError> + From<OtherGeneration>>(
        &self,
        run: &RunId,
        meant: Option<Generation>,
    ) -> Result<(Head, RunRow), E> {
        let (head, row) = self.find(run).await?;
        match meant {
            Some(meant) if meant != row.generation => Err(OtherGeneration {
                run: run.clone(),
                meant,
                latest: row.generation,
            }
            .into()),
            Some(_) | None => Ok((head, row)),
        }
    }
}
