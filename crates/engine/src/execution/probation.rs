//! Probation of runs whose nodes keep failing. A node starts such runs one at a time: the next one
//! starts when the previous one has appended a record, so that a crash is attributed to the run
//! that caused it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select;
use tokio::sync::{Semaphore, oneshot};

use crate::node::Node;

/// The time after which the next run begins in any case.
const DURATION_MAX: Duration = Duration::from_secs(5);

pub(crate) struct Probations(Arc<Semaphore>);

/// The probation of one run. Ends when it is dropped, or after [`DURATION_MAX`].
pub(crate) struct Probation {
    _ends_when_dropped: oneshot::Sender<()>,
}

impl Default for Probations {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Probations {
    /// Waits until no other run of this node is on probation.
    pub(super) async fn begin(&self, node: &Arc<Node>) -> Probation {
        let permit = self.0.clone().acquire_owned().await;
        let (sender, ended) = oneshot::channel();
        let of_task = node.clone();
        node.spawn(async move {
            select(pin!(ended), pin!(of_task.rest(DURATION_MAX))).await;
            drop(permit);
        });
        Probation {
            _ends_when_dropped: sender,
        }
    }
}
