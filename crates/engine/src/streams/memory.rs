//! The state of streams in memory: their last use, and the order of concurrent requests. It need
//! not survive a restart.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};

use everstep_model::{StreamName, StreamNumber, Timestamp};
use rustc_hash::{FxBuildHasher, FxHashMap};
use tokio::sync::{OwnedMutexGuard, broadcast};

use super::path::StreamPath;
use crate::lock::lock;

/// The number of locks for concurrent requests. Requests with the same hash share one.
const LOCKS: usize = 256;
/// The maximum number of last uses in memory. Beyond that all are dropped, as in a restart.
const TOUCHES_MAX: usize = 200_000;
/// The number of changes buffered for a slow subscriber.
const CHANGES_KEPT: usize = 4_096;

pub(crate) struct StreamMemory {
    touches: Mutex<FxHashMap<StreamNumber, Touch>>,
    locks: Vec<Arc<tokio::sync::Mutex<()>>>,
    pub(super) changes: broadcast::Sender<StreamPath>,
    /// The feeds that were read on this node.
    feeds: Mutex<FxHashMap<StreamNumber, StreamPath>>,
}

#[derive(Clone, Copy, Debug)]
struct Touch {
    at: Timestamp,
    /// The last use that is saved or being saved.
    saved: Timestamp,
}

impl Default for StreamMemory {
    fn default() -> Self {
        Self {
            touches: Mutex::default(),
            locks: (0..LOCKS).map(|_| Arc::default()).collect(),
            changes: broadcast::channel(CHANGES_KEPT).0,
            feeds: Mutex::default(),
        }
    }
}

impl StreamMemory {
    /// Waits for other requests about the same row. This only avoids conflicts; correctness does
    /// not depend on it.
    pub(super) async fn lock(&self, stream: StreamNumber, of: &str) -> Option<OwnedMutexGuard<()>> {
        let hash = FxBuildHasher.hash_one((stream, of)) as usize;
        let lock = self.locks.get(hash % LOCKS)?;
        Some(lock.clone().lock_owned().await)
    }

    pub(super) fn touched(&self, stream: StreamNumber) -> Option<Timestamp> {
        lock(&self.touches).get(&stream).map(|touch| touch.at)
    }

    /// Records a use. Returns whether to save it, because the saved use is at least `step`
    /// milliseconds old.
    pub(super) fn touch(
        &self,
        stream: StreamNumber,
        now: Timestamp,
        written: Timestamp,
        step: u64,
    ) -> bool {
        let mut touches = lock(&self.touches);
        if touches.len() >= TOUCHES_MAX && !touches.contains_key(&stream) {
            touches.clear();
        }
        let touch = touches.entry(stream).or_insert(Touch {
            at: now,
            saved: written,
        });
        touch.at = touch.at.max(now);
        let is_due = now.as_millis().saturating_sub(touch.saved.as_millis()) >= step;
        if is_due {
            touch.saved = now;
        }
        is_due
    }

    pub(super) fn forget(&self, stream: StreamNumber) {
        lock(&self.touches).remove(&stream);
    }

    pub(super) fn add_feed(&self, feed: StreamNumber, path: &StreamPath) {
        lock(&self.feeds).insert(feed, path.clone());
    }

    /// Reports that a stream has grown on another node, if it is a feed: nodes that execute runs
    /// append to feeds, and others call webhooks.
    pub(crate) fn grew_elsewhere(&self, stream: StreamNumber) {
        if let Some(path) = lock(&self.feeds).get(&stream) {
            self.changed(path);
        }
    }

    /// Reports that a stream of a user was deleted.
    pub(super) fn removed(&self, name: &StreamName) {
        if let Some(Ok(path)) = name.user_path().map(StreamPath::internal) {
            self.changed(&path);
        }
    }

    /// Reports that a stream was created, has grown, is closed or was deleted.
    pub(super) fn changed(&self, path: &StreamPath) {
        if self.changes.receiver_count() > 0 {
            let _ = self.changes.send(path.clone());
        }
    }
}
