//! The thread that runs the connections. Callers may use any runtime or none, and their runtime may
//! use another clock.

use std::future::Future;
use std::thread::JoinHandle;

use everstep_store::StoreError;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

pub(crate) struct Io {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Io {
    pub(crate) fn start() -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| StoreError::Unavailable {
            detail: format!("cannot start a thread for connections: {error}"),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("everstep-postgres".to_owned())
            .spawn(move || {
                let _ = runtime.block_on(stopped);
            });
        Ok(Self {
            handle,
            stop: Some(stop),
            thread: Some(thread.map_err(failed)?),
        })
    }

    /// Runs a call on the thread. The call continues if its caller stops waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let running = self.handle.spawn(call);
        // Blocking callers cannot yield, so skip cooperative budgeting.
        let answer = tokio::task::unconstrained(running).await;
        answer.unwrap_or_else(|error| {
            Err(StoreError::Unavailable {
                detail: format!("the call was aborted: {error}"),
            })
        })
    }

    /// Runs a task on the thread until it ends or the store is dropped. The task may drop the
    /// store.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        // A task that ran on the thread may have been the last owner of the store.
        let is_own = |thread: &JoinHandle<()>| thread.thread().id() == std::thread::current().id();
        if let Some(thread) = self.thread.take().filter(|thread| !is_own(thread)) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[path = "io_tests.rs"]
mod tests;
