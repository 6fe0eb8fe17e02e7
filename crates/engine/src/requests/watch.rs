//! Waits for the end of runs, and tails their records.

use std::collections::VecDeque;
use std::sync::Arc;

use everstep_model::{Entry, Generation, Record, RecordNumber, RunId, StreamNumber};

use super::handler::Requests;
use crate::error::{ReadError, Unavailable, UnknownRun};
use crate::execution::Parts;
use crate::node::Node;
use crate::observers::Watch;

/// The number of records that a tail reads at once.
const TAIL_PAGE: usize = 1_000;

/// A tail of the records of a run: durable records without gaps and repetitions.
pub struct Records {
    node: Arc<Node>,
    watch: Watch,
    next: RecordNumber,
    buffered: VecDeque<Entry>,
    closed: bool,
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Records(next {})", self.next)
    }
}

impl Records {
    /// Tails one generation of a run from a record number on.
    pub(super) fn new(parts: &Parts, stream: StreamNumber, from: RecordNumber) -> Self {
        Self {
            node: parts.node.clone(),
            watch: Watch::new(parts.watchers.clone(), stream, false),
            next: from,
            buffered: VecDeque::new(),
            closed: false,
        }
    }

    /// Waits for the next record. `None` after the last record of a closed journal.
    pub async fn next(&mut self) -> Result<Option<Entry>, Unavailable> {
        loop {
            if let Some(entry) = self.buffered.pop_front() {
                self.next = entry.number.plus(1);
                return Ok(Some(entry));
            }
            if self.closed {
                return Ok(None);
            }
            let (node, stream, next) = (&self.node, self.watch.stream, self.next);
            let page = self.watch.read_or_wait(async move {
                let Some(page) = node.read(stream, next, TAIL_PAGE).await? else {
                    return Ok::<_, Unavailable>(Some((Vec::new(), true)));
                };
                let last = page.entries.last();
                let last = last.map_or(next, |last| last.number.plus(1));
                let closed = page.closed && last >= page.end;
                let is_news = closed || !page.entries.is_empty();
                Ok(is_news.then_some((page.entries, closed)))
            });
            if let Some((entries, closed)) = page.await? {
                self.buffered = entries.into();
                self.closed = closed;
            }
        }
    }
}

impl Requests {
    /// Tails a generation of a run, by default the latest, from a record number on.
    pub(crate) async fn records(
        &self,
        run: &RunId,
        generation: Option<Generation>,
        from: RecordNumber,
    ) -> Result<Records, ReadError> {
        let (head, _) = self.parts.node.find_any(run, generation).await?;
        Ok(Records::new(&self.parts, head.number, from))
    }

    /// Waits until the run has ended, and returns its last record. `known` is a stream of the run,
    /// which saves the lookup: as long as it is open, it is the latest.
    pub(crate) async fn ended(
        &self,
        run: &RunId,
        known: Option<StreamNumber>,
    ) -> Result<Record, ReadError> {
        if let Some(stream) = known
            && let Some(end) = self.end_of_open(stream).await?
        {
            return Ok(end);
        }
        let (head, _) = self.parts.node.find(run).await?;
        let end = match head.closed {
            true => self.parts.node.last_record(&head).await?,
            false => self.end_of_open(head.number).await?,
        };
        match end {
            Some(end) => Ok(end),
            // The stream was closed or deleted concurrently.
            None => {
                let head = self.parts.node.head(head.number).await?;
                let head = head.ok_or_else(|| UnknownRun(run.clone()))?;
                let last = self.parts.node.last_record(&head).await?;
                last.ok_or_else(|| UnknownRun(run.clone()).into())
            }
        }
    }

    /// Waits for the end of an open stream, and returns its last record. `None` if the stream is
    /// closed or does not exist.
    async fn end_of_open(&self, stream: StreamNumber) -> Result<Option<Record>, Unavailable> {
        let watch = Watch::new(self.parts.watchers.clone(), stream, true);
        let mut was_open = false;
        loop {
            let end = watch.read_or_wait(async {
                // A run that is executed here is open, and its end is notified, so the first read
                // is not needed.
                if !was_open && self.parts.resident.contains(stream) {
                    return Ok(None);
                }
                let Some(head) = self.parts.node.head(stream).await? else {
                    return Ok(Some(None));
                };
                Ok::<_, Unavailable>(match (head.closed, was_open) {
                    (false, _) => None,
                    (true, false) => Some(None),
                    (true, true) => Some(self.parts.node.last_record(&head).await?),
                })
            });
            if let Some(end) = end.await? {
                return Ok(end);
            }
            was_open = true;
            if let Some(end) = watch.end() {
                return Ok(Some(end));
            }
        }
    }
}
