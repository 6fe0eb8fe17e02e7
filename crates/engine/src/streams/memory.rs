//! What an engine keeps in memory about streams: who was touched when, and who goes first. Losing it costs nothing but
//! a little lateness.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{StreamNumber, Timestamp};
use rustc_hash::{FxBuildHasher, FxHashMap};
use tokio::sync::{OwnedMutexGuard, broadcast};

use super::path::StreamPath;

/// Requests about streams whose hash is the same wait for each other; so many do not.
const LANES: usize = 256;
/// Touches kept in memory. Beyond that all are forgotten, which is like a restart.
const TOUCHES_MAX: usize = 200_000;
/// Changes kept for a listener that is behind.
const CHANGES_KEPT: usize = 4_096;

pub(crate) struct StreamMemory {
    touches: Mutex<FxHashMap<StreamNumber, Touch>>,
    lanes: Vec<Arc<tokio::sync::Mutex<()>>>,
    changes: broadcast::Sender<StreamPath>,
}

#[derive(Clone, Copy, Debug)]
struct Touch {
    at: Timestamp,
    /// The touch that is written down, or is being.
    saved: Timestamp,
}

impl Default for StreamMemory {
    fn default() -> Self {
        Self {
            touches: Mutex::default(),
            lanes: (0..LANES).map(|_| Arc::default()).collect(),
            changes: broadcast::channel(CHANGES_KEPT).0,
        }
    }
}

impl StreamMemory {
    fn touches(&self) -> MutexGuard<'_, FxHashMap<StreamNumber, Touch>> {
        self.touches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn among requests about the same thing. Only for order: nothing relies on it.
    pub(super) async fn turn(&self, stream: StreamNumber, of: &str) -> Option<OwnedMutexGuard<()>> {
        let hash = FxBuildHasher.hash_one((stream, of)) as usize;
        let lane = self.lanes.get(hash % LANES)?;
        Some(lane.clone().lock_owned().await)
    }

    pub(super) fn touched(&self, stream: StreamNumber) -> Option<Timestamp> {
        self.touches().get(&stream).map(|touch| touch.at)
    }

    /// Notes a touch; says whether it is to be written down, because the one that is lies `step` milliseconds back.
    pub(super) fn touch(
        &self,
        stream: StreamNumber,
        now: Timestamp,
        written: Timestamp,
        step: u64,
    ) -> bool {
        let mut touches = self.touches();
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
        self.touches().remove(&stream);
    }

    /// A stream was created, has grown or is closed.
    pub(super) fn changed(&self, path: &StreamPath) {
        if self.changes.receiver_count() > 0 {
            let _ = self.changes.send(path.clone());
        }
    }

    pub(super) fn changes(&self) -> broadcast::Receiver<StreamPath> {
        self.changes.subscribe()
    }
}
