//! The number of runs by status, counted in the store. Counts are kept for a while, so that
//! frequent scrapes cost no more than rare ones.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::{Engine, Unavailable};
use everstep_model::RunStatus;
use everstep_store::ListQuery;

/// How long counts are kept.
const KEPT: Duration = Duration::from_secs(10);

/// The latest counts. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct RunCounts {
    latest: Arc<Mutex<Vec<(RunStatus, u64)>>>,
    /// When the latest counts were made, on the engine's monotonic clock. Locked while runs are
    /// counted, so that concurrent scrapes count once.
    counted_at: Arc<tokio::sync::Mutex<Option<Duration>>>,
}

impl RunCounts {
    /// Counts the runs, unless they were counted recently. Without a store there are no counts.
    pub(super) async fn refresh(&self, engine: &Engine) {
        let mut counted_at = self.counted_at.lock().await;
        let now = engine.runtime().elapsed();
        if counted_at.is_some_and(|at| now.saturating_sub(at) < KEPT) {
            return;
        }
        *self.lock() = count(engine).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot count runs");
            Vec::new()
        });
        *counted_at = Some(now);
    }

    pub(super) fn latest(&self) -> Vec<(RunStatus, u64)> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(RunStatus, u64)>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn count(engine: &Engine) -> Result<Vec<(RunStatus, u64)>, Unavailable> {
    let mut counts = Vec::new();
    for &status in RunStatus::ALL {
        let query = ListQuery {
            statuses: vec![status],
            ..ListQuery::default()
        };
        counts.push((status, engine.count(query).await?.number));
    }
    Ok(counts)
}
