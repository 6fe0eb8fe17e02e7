//! The configuration and state that all sessions of a worker share.

use std::sync::Arc;

use everstep_engine::{Runtime, Settings};
use everstep_protocol::client::{CallError, Connection};
use everstep_protocol::worker::{RegisterAnswer, RegisterRequest};
use tokio::sync::watch;

use crate::workflow::Registry;

pub(super) struct Setup {
    pub(super) connection: Connection,
    pub(super) register: RegisterRequest,
    pub(super) registry: Registry,
    pub(super) runtime: Arc<dyn Runtime>,
    pub(super) settings: Settings,
    pub(super) state: WorkerState,
}

/// The state of a worker, as flags that can be awaited.
#[derive(Default)]
pub(super) struct WorkerState {
    pub(super) connected: watch::Sender<bool>,
    pub(super) leaving: watch::Sender<bool>,
    pub(super) ended: watch::Sender<bool>,
}

/// Completes when the flag is set.
pub(super) async fn until(flag: &watch::Sender<bool>) {
    // The sender outlives the wait, so the wait does not fail.
    let _ = flag.subscribe().wait_for(|is_set| *is_set).await;
}

impl Setup {
    pub(super) fn is_leaving(&self) -> bool {
        *self.state.leaving.borrow()
    }

    pub(super) async fn until_leaving(&self) {
        until(&self.state.leaving).await;
    }

    pub(super) async fn register(&self) -> Result<RegisterAnswer, CallError> {
        self.connection.post("v1/workers", &self.register).await
    }
}
