//! The control verbs. Each runs as a task of its own, so that it completes even if the caller is
//! dropped. The caller may be the run that is ended.

use std::sync::Arc;

use everstep_model::{Control, Location, RunId};

use super::super::inbox_requests::InboxRequests;
use super::copy::Copier;
use super::delete::Deleter;
use super::done::{Done, RequestOrigin};
use super::fork::ForkRun;
use super::revive::{Revival, Reviver};
use super::settle_step::{Settlement, StepSettler};
use super::terminate::Terminator;
use crate::error::{ControlError, Unavailable};
use crate::node::Node;

pub(crate) struct Controller {
    pub(crate) node: Arc<Node>,
    pub(crate) requests: Arc<InboxRequests>,
    pub(crate) terminator: Arc<Terminator>,
    pub(crate) settler: Arc<StepSettler>,
    pub(crate) copier: Arc<Copier>,
    pub(crate) reviver: Arc<Reviver>,
    pub(crate) deleter: Arc<Deleter>,
}

impl Controller {
    /// Applies a verb to a run.
    pub(crate) async fn control(
        self: &Arc<Self>,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (this, run) = (self.clone(), run.clone());
        let verb = async move { this.apply(&run, control, origin).await };
        self.complete(verb).await
    }

    async fn apply(
        &self,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        match control {
            Control::Pause => self.requests.pause(run, origin).await,
            Control::Resume => self.requests.resume(run, origin).await,
            Control::Cancel { rollback } => self.requests.cancel(run, rollback, origin).await,
            Control::Terminate => self.terminator.terminate(run, origin).await,
            Control::Fail => self.requests.force_fail(run, origin).await,
            Control::Restart => self.reviver.revive(run, Revival::Restart, origin).await,
            Control::Recover => self.reviver.revive(run, Revival::Recover, origin).await,
            Control::RetryRollback => {
                let revival = Revival::RetryRollback;
                self.reviver.revive(run, revival, origin).await
            }
            Control::Delete => self.deleter.delete(run, origin).await,
        }
    }

    pub(crate) async fn settle(
        &self,
        run: &RunId,
        location: &Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (settler, run, location) = (self.settler.clone(), run.clone(), location.clone());
        let verb = async move { settler.settle(&run, &location, settlement, origin).await };
        self.complete(verb).await
    }

    pub(crate) async fn revive(
        &self,
        run: &RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (reviver, run) = (self.reviver.clone(), run.clone());
        let verb = async move { reviver.revive(&run, revival, origin).await };
        self.complete(verb).await
    }

    pub(crate) async fn fork(
        &self,
        fork: ForkRun,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let copier = self.copier.clone();
        let verb = async move { copier.fork(fork, origin).await };
        self.complete(verb).await
    }

    async fn complete(
        &self,
        verb: impl Future<Output = Result<Done, ControlError>> + Send + 'static,
    ) -> Result<Done, ControlError> {
        let (send, receive) = tokio::sync::oneshot::channel();
        self.node.spawn(async move {
            let _ = send.send(verb.await);
        });
        receive
            .await
            .unwrap_or(Err(Unavailable::ShuttingDown.into()))
    }
}
