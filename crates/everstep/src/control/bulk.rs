//! Bulk requests: a verb for all runs of a list, or for runs by id, with progress and an outcome
//! per run.

use std::future::IntoFuture;
use std::sync::Arc;

use everstep_engine::{BulkProgress, Control, RequestOrigin};
use everstep_model::RunId;
use everstep_store::BoxFuture;

use crate::client::{
    BulkReport, BulkTarget, Client, ControlError, ListRuns, Port, ProgressListener,
};

/// A control request about many runs. Set the actor and the reason, then await it.
#[must_use = "the request is sent only when it is awaited"]
pub struct BulkRuns {
    port: Arc<dyn Port>,
    target: Result<BulkTarget, ControlError>,
    control: Control,
    origin: RequestOrigin,
    progress: ProgressListener,
}

impl ListRuns {
    /// Applies a verb to every run of the list, over all its pages.
    ///
    /// ```
    /// # async fn example(engine: everstep::Engine) -> Result<(), everstep::control::ControlError> {
    /// use everstep::RunStatus;
    /// use everstep::control::Control;
    ///
    /// let report = engine
    ///     .list()
    ///     .workflow("payment")
    ///     .status(RunStatus::Failed)
    ///     .each(Control::Recover)
    ///     .by("alice")
    ///     .progress(|so_far| println!("{} of {}", so_far.done, so_far.total))
    ///     .await?;
    /// for (run, why) in report.refused() {
    ///     println!("{run}: {why}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn each(self, control: Control) -> BulkRuns {
        let target = self.query.map(BulkTarget::Query);
        BulkRuns::new(&self.client, target.map_err(ControlError::from), control)
    }
}

impl Client {
    /// Applies a verb to these runs. Repeated ids count once.
    pub fn each<I: Into<String>>(
        &self,
        runs: impl IntoIterator<Item = I>,
        control: Control,
    ) -> BulkRuns {
        let runs = runs.into_iter().map(|run| RunId::new(run.into()));
        let runs = runs.collect::<Result<_, _>>().map_err(ControlError::from);
        BulkRuns::new(self, runs.map(BulkTarget::Runs), control)
    }
}

impl BulkRuns {
    fn new(client: &Client, target: Result<BulkTarget, ControlError>, control: Control) -> Self {
        Self {
            port: client.port.clone(),
            target,
            control,
            origin: RequestOrigin::default(),
            progress: Box::new(|_| ()),
        }
    }

    /// Sets the actor, for the journals.
    pub fn by(mut self, name: impl Into<String>) -> Self {
        self.origin.by = Some(name.into());
        self
    }

    /// Sets the reason, for the journals.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.origin.reason = Some(reason.into());
        self
    }

    /// Calls `listener` for each run. A server changes a hundred runs before it reports on them.
    pub fn progress(mut self, listener: impl FnMut(BulkProgress) + Send + 'static) -> Self {
        self.progress = Box::new(listener);
        self
    }
}

impl IntoFuture for BulkRuns {
    type Output = Result<BulkReport, ControlError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (port, target) = (self.port, self.target?);
            port.bulk(target, self.control, self.origin, self.progress)
                .await
        })
    }
}

impl std::fmt::Debug for BulkRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BulkRuns({:?})", self.control)
    }
}
