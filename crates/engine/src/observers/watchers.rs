//! Watchers of single streams: they are notified when a stream grows or closes.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use everstep_model::{Record, StreamNumber, limits};
use everstep_store::StoreError;
use futures_util::future::select;
use rustc_hash::FxHashMap;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};

use crate::error::Unavailable;
use crate::lock::lock;
use crate::node::Node;

pub(crate) struct Watchers {
    node: Arc<Node>,
    watched: Mutex<FxHashMap<StreamNumber, Watched>>,
    /// How many streams are watched for their end and for each record, so that commits to
    /// unwatched streams take no lock.
    for_end: AtomicUsize,
    for_records: AtomicUsize,
    /// Whether the engine has shut down.
    closed: AtomicBool,
    /// The error of the store, while it accepts no writes.
    failed: Mutex<Option<StoreError>>,
    has_failed: AtomicBool,
    /// The error after which the store accepts no writes until it is opened again.
    ended: watch::Sender<Option<StoreError>>,
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
        match only_end {
            true => &mut self.for_end,
            false => &mut self.for_records,
        }
    }
}

impl Watchers {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self {
            node,
            watched: Mutex::default(),
            for_end: AtomicUsize::new(0),
            for_records: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            failed: Mutex::default(),
            has_failed: AtomicBool::new(false),
            ended: watch::Sender::new(None),
        }
    }

    /// Notifies watchers that a stream has grown or closed.
    pub(crate) fn grew(&self, stream: StreamNumber, closed: bool) {
        if !self.is_watched(closed) {
            return;
        }
        if let Some(watched) = lock(&self.watched).get(&stream)
            && (closed || watched.for_records > 0)
        {
            watched.notify.notify_waiters();
        }
    }

    /// Stores the last record of a run for its watchers, so that they need not read it.
    pub(crate) fn ends_with(&self, stream: StreamNumber, end: &Record) {
        if self.is_watched(true)
            && let Some(watched) = lock(&self.watched).get_mut(&stream)
        {
            watched.end = Some(end.clone());
        }
    }

    /// Reports a run that cannot be read. Its watchers read it again and receive the error.
    pub(crate) fn unreadable(&self, stream: StreamNumber, error: &StoreError) {
        tracing::error!(%stream, %error, "cannot read a run, skipping it");
        self.grew(stream, true);
    }

    fn is_watched(&self, closed: bool) -> bool {
        let for_records = self.for_records.load(Ordering::Acquire);
        for_records > 0 || (closed && self.for_end.load(Ordering::Acquire) > 0)
    }

    fn counter(&self, only_end: bool) -> &AtomicUsize {
        match only_end {
            true => &self.for_end,
            false => &self.for_records,
        }
    }

    /// Ends every wait because the engine has shut down.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.notify_all();
    }

    /// Ends every wait because the store accepts no writes.
    pub(crate) fn store_failed(&self, error: &StoreError) {
        *lock(&self.failed) = Some(error.clone());
        if !self.has_failed.swap(true, Ordering::AcqRel) {
            tracing::error!(%error, "the store accepts no writes");
        }
        let is_final = match error {
            StoreError::Poisoned { .. } => true,
            StoreError::Full { .. } => !self.node.is_shared,
            _ => false,
        };
        self.ended.send_if_modified(|ended| {
            let is_news = is_final && ended.is_none();
            if is_news {
                *ended = Some(error.clone());
            }
            is_news
        });
        self.notify_all();
    }

    /// Completes when the store accepts no writes until it is opened again.
    pub(crate) async fn store_ended(&self) -> StoreError {
        let mut ended = self.ended.subscribe();
        let error = ended.wait_for(Option::is_some).await;
        match error.ok().and_then(|error| error.clone()) {
            Some(error) => error,
            // The sender belongs to `self`.
            None => std::future::pending().await,
        }
    }

    /// Records that the store accepts writes.
    pub(crate) fn store_works(&self) {
        if self.has_failed.swap(false, Ordering::AcqRel) {
            *lock(&self.failed) = None;
        }
    }

    fn notify_all(&self) {
        for watched in lock(&self.watched).values() {
            watched.notify.notify_waiters();
        }
    }

    /// Fails if notifications can no longer come.
    pub(crate) fn check_open(&self) -> Result<(), Unavailable> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Unavailable::ShuttingDown);
        }
        match &*lock(&self.failed) {
            Some(error) => Err(Unavailable::Store(error.clone())),
            None => Ok(()),
        }
    }

    /// Waits until a stream changes. Hints about commits of other nodes may get lost, so on a
    /// shared store the wait is limited.
    pub(crate) async fn wait(&self, notified: Pin<&mut Notified<'_>>) -> Result<(), Unavailable> {
        self.check_open()?;
        if self.node.is_shared {
            // Shorter than replies are kept, so that a waiting sender finds its reply.
            let patience = self.node.settings.sweep_interval;
            let patience = patience.min(limits::REPLY_KEPT / 2);
            select(notified, self.node.runtime.sleep(patience)).await;
        } else {
            notified.await;
        }
        Ok(())
    }
}

/// Watches a stream until it is dropped.
pub(crate) struct Watch {
    watchers: Arc<Watchers>,
    pub(crate) stream: StreamNumber,
    only_end: bool,
    /// Notified when the stream changes.
    pub(crate) notify: Arc<Notify>,
}

impl Watch {
    pub(crate) fn new(watchers: Arc<Watchers>, stream: StreamNumber, only_end: bool) -> Self {
        let mut watched = lock(&watchers.watched);
        let entry = watched.entry(stream).or_default();
        *entry.count(only_end) += 1;
        let notify = entry.notify.clone();
        watchers.counter(only_end).fetch_add(1, Ordering::AcqRel);
        drop(watched);
        Self {
            watchers,
            stream,
            only_end,
            notify,
        }
    }

    /// Calls `read`, and if that returns `None`, waits until the stream changes. The wait begins
    /// before the call, so that no change in between is missed.
    pub(crate) async fn read_or_wait<T, E: From<Unavailable>>(
        &self,
        read: impl Future<Output = Result<Option<T>, E>>,
    ) -> Result<Option<T>, E> {
        let mut notified = std::pin::pin!(self.notify.notified());
        notified.as_mut().enable();
        if let Some(found) = read.await? {
            return Ok(Some(found));
        }
        self.watchers.wait(notified).await?;
        Ok(None)
    }

    /// Returns the last record of the run, if it ended on this node while it was watched.
    pub(crate) fn end(&self) -> Option<Record> {
        let watched = lock(&self.watchers.watched);
        watched.get(&self.stream)?.end.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = lock(&self.watchers.watched);
        if let Some(entry) = watched.get_mut(&self.stream) {
            *entry.count(self.only_end) -= 1;
            if entry.for_end + entry.for_records == 0 {
                watched.remove(&self.stream);
            }
        }
        let counter = self.watchers.counter(self.only_end);
        counter.fetch_sub(1, Ordering::AcqRel);
    }
}
