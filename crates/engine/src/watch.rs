//! Waits for the end of runs, tails their records, and distributes emissions.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{Entry, Name, Payload, Record, RecordNumber, RunId, StreamNumber, limits};
use everstep_store::{Head, ReadRequest, StoreError, StreamRef};
use futures_util::future::select;
use rustc_hash::FxHashMap;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, broadcast};

use crate::core::Core;
use crate::error::{ReadError, Unavailable, UnknownRun};

/// The number of emissions buffered for a slow subscriber.
const EMISSIONS_KEPT: usize = 1_024;
/// The number of records that a tail reads at once.
const TAIL_PAGE: usize = 1_000;

/// A notification that a workflow emitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Emission {
    /// The run.
    pub run: RunId,
    /// The topic.
    pub topic: Name,
    /// The payload.
    pub payload: Payload,
}

/// The emissions of workflows on this engine. Best effort: a slow subscriber misses some.
#[derive(Debug)]
pub struct Emissions(broadcast::Receiver<Emission>);

impl Emissions {
    /// The next emission. `None` when the engine has shut down.
    pub async fn next(&mut self) -> Option<Emission> {
        loop {
            match self.0.recv().await {
                Ok(emission) => return Some(emission),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "a subscriber is behind and misses emissions");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

pub(crate) struct Watchers {
    watched: Mutex<FxHashMap<StreamNumber, Watched>>,
    /// The numbers of streams watched for their end and for each record, so that commits to unwatched
    /// streams take no lock.
    for_end: AtomicUsize,
    for_records: AtomicUsize,
    emissions: broadcast::Sender<Emission>,
    /// Whether the engine has shut down.
    closed: AtomicBool,
    /// The error of the store, while it accepts no writes.
    failed: Mutex<Option<StoreError>>,
    has_failed: AtomicBool,
}

#[derive(Default)]
struct Watched {
    notify: Arc<Notify>,
    for_end: usize,
    for_records: usize,
    /// The last record of the run, if it ended on this node.
    end: Option<Record>,
}

impl Watched {
    fn count(&mut self, only_end: bool) -> &mut usize {
        if only_end {
            &mut self.for_end
        } else {
            &mut self.for_records
        }
    }
}

impl Default for Watchers {
    fn default() -> Self {
        Self {
            watched: Mutex::default(),
            for_end: AtomicUsize::new(0),
            for_records: AtomicUsize::new(0),
            emissions: broadcast::channel(EMISSIONS_KEPT).0,
            closed: AtomicBool::new(false),
            failed: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }
}

impl Watchers {
    pub(crate) fn emit(&self, emission: Emission) {
        let _ = self.emissions.send(emission);
    }

    pub(crate) fn subscribe(&self) -> Emissions {
        Emissions(self.emissions.subscribe())
    }

    /// Notifies watchers that a stream has grown or closed.
    pub(crate) fn grew(&self, stream: StreamNumber, closed: bool) {
        if !self.is_watched(closed) {
            return;
        }
        if let Some(watched) = self.watched().get(&stream)
            && (closed || watched.for_records > 0)
        {
            watched.notify.notify_waiters();
        }
    }

    /// Notifies watchers that a run has ended. They receive the record without reading it.
    pub(crate) fn ends_with(&self, stream: StreamNumber, end: &Record) {
        if self.is_watched(true)
            && let Some(watched) = self.watched().get_mut(&stream)
        {
            watched.end = Some(end.clone());
        }
    }

    fn is_watched(&self, closed: bool) -> bool {
        let for_records = self.for_records.load(Ordering::Acquire);
        for_records > 0 || (closed && self.for_end.load(Ordering::Acquire) > 0)
    }

    fn counter(&self, only_end: bool) -> &AtomicUsize {
        if only_end {
            &self.for_end
        } else {
            &self.for_records
        }
    }

    /// Ends every wait because the engine has shut down.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.notify_all();
    }

    /// Ends every wait because the store accepts no writes.
    pub(crate) fn store_failed(&self, error: &StoreError) {
        *self.failed() = Some(error.clone());
        self.has_failed.store(true, Ordering::Release);
        self.notify_all();
    }

    /// Records that the store accepts writes.
    pub(crate) fn store_works(&self) {
        if self.has_failed.swap(false, Ordering::AcqRel) {
            *self.failed() = None;
        }
    }

    fn notify_all(&self) {
        for watched in self.watched().values() {
            watched.notify.notify_waiters();
        }
    }

    pub(crate) fn check_open(&self) -> Result<(), Unavailable> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Unavailable::ShuttingDown);
        }
        match &*self.failed() {
            Some(error) => Err(Unavailable::Store(error.clone())),
            None => Ok(()),
        }
    }

    fn failed(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> MutexGuard<'_, FxHashMap<StreamNumber, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches a stream until it is dropped.
pub(crate) struct Watch {
    core: Arc<Core>,
    stream: StreamNumber,
    only_end: bool,
    notify: Arc<Notify>,
}

impl Watch {
    pub(crate) fn new(core: Arc<Core>, stream: StreamNumber, only_end: bool) -> Self {
        let mut watched = core.watchers.watched();
        let entry = watched.entry(stream).or_default();
        *entry.count(only_end) += 1;
        let notify = entry.notify.clone();
        core.watchers
            .counter(only_end)
            .fetch_add(1, Ordering::AcqRel);
        drop(watched);
        Self {
            core,
            stream,
            only_end,
            notify,
        }
    }

    /// Notified when the stream changes.
    pub(crate) fn notify(&self) -> Arc<Notify> {
        self.notify.clone()
    }

    /// The last record of the run, if it ended on this node while it was watched.
    fn end(&self) -> Option<Record> {
        let watched = self.core.watchers.watched();
        watched.get(&self.stream)?.end.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let watchers = &self.core.watchers;
        let mut watched = watchers.watched();
        if let Some(entry) = watched.get_mut(&self.stream) {
            *entry.count(self.only_end) -= 1;
            if entry.for_end + entry.for_records == 0 {
                watched.remove(&self.stream);
            }
        }
        watchers
            .counter(self.only_end)
            .fetch_sub(1, Ordering::AcqRel);
    }
}

/// A tail of the records of a run: durable records without gaps and repetitions.
pub struct Records {
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
    pub(crate) fn core(&self) -> Arc<Core> {
        self.watch.core.clone()
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
            // Registered before reading, so that later records wake it.
            let notify = self.watch.notify.clone();
            let mut notified = std::pin::pin!(notify.notified());
            notified.as_mut().enable();
            let request = ReadRequest {
                stream: self.watch.stream,
                from: self.next,
                limit: TAIL_PAGE,
                bytes: usize::MAX,
            };
            let Some(page) = self.watch.core.store.read(request).await? else {
                return Ok(None);
            };
            let last = page
                .entries
                .last()
                .map_or(self.next, |last| last.number.plus(1));
            self.closed = page.closed && last >= page.end;
            self.buffered = page.entries.into();
            if self.buffered.is_empty() && !self.closed {
                self.watch.core.watchers.check_open()?;
                self.watch.core.changed_or_timeout(notified).await;
            }
        }
    }
}

impl Core {
    /// Waits until a stream changes. Hints about commits of other nodes may get lost, so on a shared
    /// store the wait is limited.
    pub(crate) async fn changed_or_timeout(&self, notified: Pin<&mut Notified<'_>>) {
        if self.store.describe().exclusive {
            return notified.await;
        }
        // Shorter than replies are kept, so that a waiting sender finds its reply.
        let patience = self.settings.sweep_interval.min(limits::REPLY_KEPT / 2);
        let late = self.runtime.sleep(patience);
        select(notified, late).await;
    }

    /// Waits until the run has ended, and returns its last record. `known` is a stream of the run,
    /// which saves the lookup: as long as it is open, it is the latest.
    pub(crate) async fn ended(
        self: &Arc<Self>,
        run: &RunId,
        known: Option<StreamNumber>,
    ) -> Result<Record, ReadError> {
        if let Some(stream) = known
            && let Some(end) = self.end_of_open(stream).await?
        {
            return Ok(end);
        }
        let (head, _) = self.find(run).await?;
        let end = match head.closed {
            true => self.last_record(&head).await?,
            false => self.end_of_open(head.number).await?,
        };
        match end {
            Some(end) => Ok(end),
            // The stream was closed or deleted concurrently.
            None => {
                let head = self.store.head(StreamRef::Number(head.number)).await?;
                let head = head.ok_or_else(|| UnknownRun(run.clone()))?;
                let last = self.last_record(&head).await?;
                last.ok_or_else(|| UnknownRun(run.clone()).into())
            }
        }
    }

    /// Waits for the end of an open stream, and returns its last record. `None` if the stream is closed
    /// or does not exist.
    async fn end_of_open(
        self: &Arc<Self>,
        stream: StreamNumber,
    ) -> Result<Option<Record>, Unavailable> {
        let watch = Watch::new(self.clone(), stream, true);
        let mut was_open = false;
        loop {
            // Registered before reading, so that a later end wakes it.
            let mut notified = std::pin::pin!(watch.notify.notified());
            notified.as_mut().enable();
            // A run that is executed here is open, and its end is notified, so the first read is not
            // needed.
            if was_open || !self.hot.contains(stream) {
                let Some(head) = self.store.head(StreamRef::Number(stream)).await? else {
                    return Ok(None);
                };
                if head.closed {
                    return match was_open {
                        true => Ok(self.last_record(&head).await?),
                        false => Ok(None),
                    };
                }
            }
            was_open = true;
            self.watchers.check_open()?;
            self.changed_or_timeout(notified).await;
            if let Some(end) = watch.end() {
                return Ok(Some(end));
            }
        }
    }

    /// Returns the last record of a stream. `None` if the stream was deleted.
    async fn last_record(&self, head: &Head) -> Result<Option<Record>, StoreError> {
        let last = RecordNumber(head.next.0.saturating_sub(1));
        let entry = self.read_journal(head.number, last).await?.pop();
        Ok(entry.map(|entry| entry.record))
    }

    /// Tails a run from a record number on.
    pub(crate) async fn records(
        self: &Arc<Self>,
        run: &RunId,
        from: RecordNumber,
    ) -> Result<Records, ReadError> {
        let (head, _) = self.find(run).await?;
        Ok(self.records_of(head.number, from))
    }

    /// Tails one generation of a run from a record number on.
    pub(crate) fn records_of(
        self: &Arc<Self>,
        stream: StreamNumber,
        from: RecordNumber,
    ) -> Records {
        Records {
            watch: Watch::new(self.clone(), stream, false),
            next: from,
            buffered: VecDeque::new(),
            closed: false,
        }
    }
}
