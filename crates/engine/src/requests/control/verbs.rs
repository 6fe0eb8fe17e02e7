//! Performs the control verbs. Each runs as a task of its own, so that it completes even if the
//! caller is dropped. The caller may be the run that is ended.

use std::sync::Arc;

use everstep_inspect::Overview;
use everstep_model::record::{CancelRequested, ForcedFailure, PauseRequested, ResumeRequested};
use everstep_model::{Control, Location, RunId};

use super::controller::Controller;
use super::done::{Because, Done, RequestOrigin};
use super::fork::ForkRun;
use super::revive::Revival;
use super::settle_step::{Settlement, forced};
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
        let RequestOrigin { by, reason } = origin.clone();
        match control {
            // Steps in flight finish, and timers fire into the journal. The run starts nothing new
            // and sees them after it is resumed.
            Control::Pause => {
                let request = PauseRequested { by, reason };
                self.request(run, request, |overview| {
                    overview.pause.as_ref().map(|_| Because::Paused)
                })
                .await
            }
            Control::Resume => {
                self.request(run, ResumeRequested { by }, |overview| {
                    overview.pause.is_none().then_some(Because::NotPaused)
                })
                .await
            }
            // The first request and its reason count. From then on the operations of the run fail,
            // steps in flight end first, and completed steps are undone if requested.
            Control::Cancel { rollback } => {
                let request = CancelRequested {
                    by,
                    reason,
                    rollback,
                };
                self.request(run, request, is_ending).await
            }
            Control::Terminate => self.parts.terminate(run, origin).await,
            Control::Fail => {
                let request = ForcedFailure {
                    location: None,
                    error: forced(reason.as_deref()),
                    by,
                    so_far: None,
                };
                self.request(run, request, is_ending).await
            }
            Control::Restart => self.revive(run, Revival::Restart, origin).await,
            Control::Recover => self.revive(run, Revival::Recover, origin).await,
            Control::RetryRollback => self.revive(run, Revival::RetryRollback, origin).await,
            Control::Delete => self.delete(run, origin).await,
        }
    }
}

fn is_ending(overview: &Overview) -> Option<Because> {
    overview.is_ending().then_some(Because::Ending)
}
