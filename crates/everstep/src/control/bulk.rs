//! The verbs in bulk: every run of a list, or runs by id, with progress and a report per run.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use everstep_engine::{BulkProgress, Control, RequestOrigin};

use everstep_model::RunId;

use crate::client::{BulkReport, Client, ControlError, ListRuns, Listener, Port, Which};

/// Something to be done with many runs. Say who asks and why, then await it.
#[must_use = "nothing is done until it is awaited"]
pub struct BulkRuns {
    port: Arc<dyn Port>,
    which: Chosen,
    control: Control,
    origin: RequestOrigin,
    progress: Listener,
}

enum Chosen {
    Listed(Box<ListRuns>),
    Named(Vec<String>),
}

impl ListRuns {
    /// Does one thing with every run of the list, over all its pages, and reports on each.
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
        let port = self.client.port.clone();
        BulkRuns::new(port, Chosen::Listed(Box::new(self)), control)
    }
}

impl Client {
    /// Does one thing with these runs, and reports on each. One that is named twice is dealt with once.
    pub fn each<I: Into<String>>(
        &self,
        runs: impl IntoIterator<Item = I>,
        control: Control,
    ) -> BulkRuns {
        let runs = runs.into_iter().map(Into::into).collect();
        BulkRuns::new(self.port.clone(), Chosen::Named(runs), control)
    }
}

impl BulkRuns {
    fn new(port: Arc<dyn Port>, which: Chosen, control: Control) -> Self {
        Self {
            port,
            which,
            control,
            origin: RequestOrigin::default(),
            progress: Box::new(|_| ()),
        }
    }

    /// Who asks. It is recorded with each run.
    pub fn by(mut self, name: impl Into<String>) -> Self {
        self.origin.by = Some(name.into());
        self
    }

    /// Why. It is recorded with each run.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.origin.reason = Some(reason.into());
        self
    }

    /// Called after each run.
    pub fn progress(mut self, listener: impl FnMut(BulkProgress) + Send + 'static) -> Self {
        self.progress = Box::new(listener);
        self
    }

    async fn perform(self) -> Result<BulkReport, ControlError> {
        let which = match self.which {
            Chosen::Listed(list) => Which::Listed(list.into_query()?),
            Chosen::Named(runs) => {
                let runs = runs.into_iter().map(RunId::new);
                Which::Named(runs.collect::<Result<_, _>>()?)
            }
        };
        self.port
            .bulk(which, self.control, self.origin, self.progress)
            .await
    }
}

impl IntoFuture for BulkRuns {
    type Output = Result<BulkReport, ControlError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.perform())
    }
}

impl std::fmt::Debug for BulkRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BulkRuns({:?})", self.control)
    }
}
