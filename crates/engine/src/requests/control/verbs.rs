//! Performs the control verbs. Each runs as a task of its own, so that it completes even if the
//! caller is dropped. The caller may be the run that is ended.

use std::sync::Arc;

use everstep_model::{Control, Location, RunId};

use super::controller::Controller;
use super::done::{Done, RequestOrigin};
use super::fork::ForkRun;
use super::revive::Revival;
use super::settle_step::Settlement;
use crate::error::{ControlError, Unavailable};

/// A verb with its arguments.
pub(crate) enum Verb {
    Control(RunId, Control),
    Settle(RunId, Location, Settlement),
    Revive(RunId, Revival),
    Fork(ForkRun),
}

impl Controller {
    pub(crate) async fn perform(
        self: &Arc<Self>,
        verb: Verb,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (send, receive) = tokio::sync::oneshot::channel();
        let controller = self.clone();
        self.parts.node.spawn(async move {
            let _ = send.send(controller.apply(verb, origin).await);
        });
        let done = receive.await;
        done.unwrap_or(Err(Unavailable::ShuttingDown.into()))
    }

    async fn apply(&self, verb: Verb, origin: RequestOrigin) -> Result<Done, ControlError> {
        match verb {
            Verb::Control(run, control) => self.control(&run, control, origin).await,
            Verb::Settle(run, location, settlement) => {
                self.settle(&run, &location, settlement, origin).await
            }
            Verb::Revive(run, revival) => self.revive(&run, revival, origin).await,
            Verb::Fork(fork) => self.fork(fork, origin).await,
        }
    }

    async fn control(
        &self,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        match control {
            Control::Pause => self.pause(run, origin).await,
            Control::Resume => self.resume(run, origin).await,
            Control::Cancel { rollback } => self.cancel(run, rollback, origin).await,
            Control::Terminate => self.terminator.terminate(run, origin).await,
            Control::Fail => self.force_fail(run, origin).await,
            Control::Restart => self.revive(run, Revival::Restart, origin).await,
            Control::Recover => self.revive(run, Revival::Recover, origin).await,
            Control::RetryRollback => self.revive(run, Revival::RetryRollback, origin).await,
            Control::Delete => self.delete(run, origin).await,
        }
    }
}
