//! The configuration and state that all sessions of a worker share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_engine::{Runtime, Settings};
use everstep_protocol::client::{CallError, Connection};
use everstep_protocol::worker::{RegisterAnswer, RegisterRequest};
use tokio::sync::Notify;

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
    pub(super) connected: AtomicBool,
    pub(super) leaving: AtomicBool,
    pub(super) ended: AtomicBool,
    changed: Notify,
}

impl WorkerState {
    pub(super) fn set(&self, flag: &AtomicBool, value: bool) {
        flag.store(value, Ordering::Release);
        self.changed.notify_waiters();
    }

    pub(super) async fn until(&self, flag: &AtomicBool) {
        loop {
            // Registered before the check, so that no change in between is missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if flag.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }
}

impl Setup {
    pub(super) fn is_leaving(&self) -> bool {
        self.state.leaving.load(Ordering::Acquire)
    }

    pub(super) async fn until_leaving(&self) {
        self.state.until(&self.state.leaving).await;
    }

    pub(super) async fn register(&self) -> Result<RegisterAnswer, CallError> {
        self.connection.post("v1/workers", &self.register).await
    }
}
