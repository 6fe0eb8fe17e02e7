//! Waits for the end of runs, and tails their records.

use std::collections::VecDeque;
use std::sync::Arc;

use everstep_model::{Entry, Record, RecordNumber, RunId, StreamNumber};
use everstep_store::{ReadRequest, StreamRef};

use crate::error::{ReadError, Unavailable, UnknownRun};
use crate::execution::ResidentRuns;
use crate::node::Node;
use crate::observers::{Watch, Watchers};

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
            let request = ReadRequest {
                stream: self.watch.stream(),
                from: self.next,
                limit: TAIL_PAGE,
                bytes: usize::MAX,
            };
            let (node, next) = (&self.node, self.next);
            let page = self.watch.read_or_wait(async move {
                let Some(page) = node.store.read(request).await? else {
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

pub(crate) struct RunWatcher {
    node: Arc<Node>,
    watchers: Arc<Watchers>,
    resident: Arc<ResidentRuns>,
}

impl std::fmt::Debug for RunWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RunWatcher")
    }
}

impl RunWatcher {
    pub(crate) fn new(
        node: Arc<Node>,
        watchers: Arc<Watchers>,
        resident: Arc<ResidentRuns>,
    ) -> Self {
        Self {
            node,
            watchers,
            resident,
        }
    }

    pub(super) fn node(&self) -> &Node {
        &self.node
    }

    /// Tails a run from a record number on.
    pub(crate) async fn records(
        &self,
        run: &RunId,
        from: RecordNumber,
    ) -> Result<Records, ReadError> {
        let (head, _) = self.node.find(run).await?;
        Ok(self.tail(head.number, from))
    }

    /// Tails one generation of a run from a record number on.
    pub(super) fn tail(&self, stream: StreamNumber, from: RecordNumber) -> Records {
        Records {
            node: self.node.clone(),
            watch: Watch::new(self.watchers.clone(), stream, false),
            next: from,
            buffered: VecDeque::new(),
            closed: false,
        }
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
        let (head, _) = self.node.find(run).await?;
        let end = match head.closed {
            true => self.node.last_record(&head).await?,
            false => self.end_of_open(head.number).await?,
        };
        match end {
            Some(end) => Ok(end),
            // The stream was closed or deleted concurrently.
            None => {
                let head = self.node.store.head(StreamRef::Number(head.number)).await?;
                let head = head.ok_or_else(|| UnknownRun(run.clone()))?;
                let last = self.node.last_record(&head).await?;
                last.ok_or_else(|| UnknownRun(run.clone()).into())
            }
        }
    }

    /// Waits for the end of an open stream, and returns its last record. `None` if the stream is
    /// closed or does not exist.
    async fn end_of_open(&self, stream: StreamNumber) -> Result<Option<Record>, Unavailable> {
        let watch = Watch::new(self.watchers.clone(), stream, true);
        let mut was_open = false;
        loop {
            let end = watch.read_or_wait(async {
                // A run that is executed here is open, and its end is notified, so the first read
                // is not needed.
                if !was_open && self.resident.contains(stream) {
                    return Ok(None);
                }
                let Some(head) = self.node.store.head(StreamRef::Number(stream)).await? else {
                    return Ok(Some(None));
                };
                Ok::<_, Unavailable>(match (head.closed, was_open) {
                    (false, _) => None,
                    (true, false) => Some(None),
                    (true, true) => Some(self.node.last_record(&head).await?),
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
