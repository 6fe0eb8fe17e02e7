//! The control verbs of the engine's API.

use everstep_model::{Location, RunId};
use everstep_store::ListQuery;

use super::{BulkProgress, BulkReport, Control, Done, ForkRun, RequestOrigin, Revival, Settlement};
use crate::engine::Engine;
use crate::error::{ControlError, Unavailable};

impl Engine {
    /// Pauses, resumes, cancels, terminates, restarts, recovers or deletes a run.
    pub async fn control(
        &self,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (core, run) = (self.core.clone(), run.clone());
        let verb = async move { core.control(&run, control, origin).await };
        self.core.to_its_end(verb).await
    }

    /// Settles an operation that has no result.
    pub async fn settle(
        &self,
        run: &RunId,
        location: &Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (core, run, location) = (self.core.clone(), run.clone(), location.clone());
        let verb = async move { core.settle(&run, &location, settlement, origin).await };
        self.core.to_its_end(verb).await
    }

    /// Revives a run as a new generation.
    pub async fn revive(
        &self,
        run: &RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (core, run) = (self.core.clone(), run.clone());
        let verb = async move { core.revive(&run, revival, origin).await };
        self.core.to_its_end(verb).await
    }

    /// Starts another run from a point of a run. The outcome is about the new run.
    pub async fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Result<Done, ControlError> {
        let core = self.core.clone();
        let verb = async move { core.fork_run(fork, origin).await };
        self.core.to_its_end(verb).await
    }

    /// Returns all runs that match a query, across all pages.
    pub async fn listed(&self, query: ListQuery) -> Result<Vec<RunId>, Unavailable> {
        self.core.listed(query).await
    }

    /// Applies a verb to many runs, and reports the outcome for each.
    pub async fn bulk(
        &self,
        runs: Vec<RunId>,
        control: Control,
        origin: RequestOrigin,
        progress: impl FnMut(BulkProgress),
    ) -> BulkReport {
        self.core.bulk(runs, control, origin, progress).await
    }

    /// Deletes the finished runs whose retention has expired, and returns their ids.
    pub async fn apply_retention(&self) -> Result<Vec<RunId>, Unavailable> {
        Ok(self.core.apply_retention().await?)
    }
}
