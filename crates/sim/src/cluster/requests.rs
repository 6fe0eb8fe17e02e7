//! Requests of clients to the machines.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use everstep::Engine;
use futures_util::future::{Either, select};
use tokio::sync::oneshot::{Receiver, channel};

use super::world::World;
use crate::plan::FaultKind;

/// The time that a client waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(20);

impl World {
    /// Sends a request to a machine. None if the client does not learn its outcome.
    pub async fn request<T, Fut>(
        self: &Arc<Self>,
        machine: usize,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<T>
    where
        T: Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        let receive = self.in_process(machine, ask)?;
        let timeout = std::pin::pin!(self.executor.sleep(TIMEOUT));
        let answer = match select(receive, timeout).await {
            Either::Left((answer, _)) => answer.ok(),
            Either::Right(_) => None,
        };
        answer.filter(|_| !self.strikes(FaultKind::ReplyLost, 300))
    }

    /// Sends a request without a timeout. None if the process crashes before the answer.
    pub(crate) async fn request_without_timeout<T, Fut>(
        self: &Arc<Self>,
        machine: usize,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<T>
    where
        T: Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        self.in_process(machine, ask)?.await.ok()
    }

    fn in_process<T, Fut>(
        self: &Arc<Self>,
        machine: usize,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<Receiver<T>>
    where
        T: Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        let machine = self.machines.get(machine)?;
        let (process, engine) = (machine.process()?, machine.engine()?);
        let (send, receive) = channel();
        let answer = ask(engine);
        self.executor.spawn(process.group, async move {
            let _ = send.send(answer.await);
        });
        Some(receive)
    }
}
