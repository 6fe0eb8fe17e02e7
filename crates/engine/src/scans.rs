//! Queries that compare many runs. The store of a directory answers them on the calling thread, so
//! they run beside the threads of tasks, one at a time: no number of lists delays other requests.

use std::sync::Arc;

use everstep_store::StoreError;
use tokio::sync::{Semaphore, oneshot};

use crate::runtime::Runtime;

/// Runs one query at a time.
pub(crate) struct Scans(Arc<Semaphore>);

impl Default for Scans {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Scans {
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        runtime: &dyn Runtime,
        query: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.0.clone().acquire_owned().await;
        let turn = turn.map_err(|_| interrupted())?;
        let (send, mut receive) = oneshot::channel();
        let work = async move {
            let _ = send.send(query.await);
            // Kept until the query ends, even if its caller is gone.
            drop(turn);
        };
        runtime.run_blocking(Box::pin(work)).await;
        receive.try_recv().unwrap_or_else(|_| Err(interrupted()))
    }
}

fn interrupted() -> StoreError {
    StoreError::Unavailable {
        detail: "the query was interrupted".to_owned(),
    }
}
