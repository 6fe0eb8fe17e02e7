//! The verbs as users of the engine call them.

use everstep_model::{Location, RunId};
use everstep_store::ListQuery;

use super::{Asked, BulkProgress, BulkReport, Control, Done, ForkRun, Revival, Settlement};
use crate::engine::Engine;
use crate::error::{ControlError, Unavailable};

impl Engine {
    /// Pauses, resumes, cancels, terminates, restarts, recovers or deletes a run.
    pub async fn control(
        &self,
        run: &RunId,
        control: Control,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        let (core, run) = (self.core.clone(), run.clone());
        let verb = async move { core.control(&run, control, asked).await };
        self.core.to_its_end(verb).await
    }

    /// Gives an operation that has no result one, or makes it fail.
    pub async fn settle(
        &self,
        run: &RunId,
        location: &Location,
        settlement: Settlement,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        let (core, run, location) = (self.core.clone(), run.clone(), location.clone());
        let verb = async move { core.settle(&run, &location, settlement, asked).await };
        self.core.to_its_end(verb).await
    }

    /// Revives a run as a new generation.
    pub async fn revive(
        &self,
        run: &RunId,
        revival: Revival,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        let (core, run) = (self.core.clone(), run.clone());
        let verb = async move { core.revive(&run, revival, asked).await };
        self.core.to_its_end(verb).await
    }

    /// Begins another run where one was. The answer is about the new run.
    pub async fn fork(&self, fork: ForkRun, asked: Asked) -> Result<Done, ControlError> {
        let core = self.core.clone();
        let verb = async move { core.fork_run(fork, asked).await };
        self.core.to_its_end(verb).await
    }

    /// Every run that a list shows, over all its pages.
    pub async fn listed(&self, query: ListQuery) -> Result<Vec<RunId>, Unavailable> {
        self.core.listed(query).await
    }

    /// Does one thing with many runs, and reports on each.
    pub async fn bulk(
        &self,
        runs: Vec<RunId>,
        control: Control,
        asked: Asked,
        progress: impl FnMut(BulkProgress),
    ) -> BulkReport {
        self.core.bulk(runs, control, asked, progress).await
    }

    /// Deletes the finished runs that the settings do not keep any longer; gives their ids.
    pub async fn apply_retention(&self) -> Result<Vec<RunId>, Unavailable> {
        Ok(self.core.apply_retention().await?)
    }
}
