//! Starts of runs, configured like builders and awaited directly.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::time::Duration;

use everstep_engine::Start;
use everstep_model::{Name, Payload, PayloadError, RunId, TraceParent};
use futures_util::future::join_all;

use super::Response;
use super::error::{StartError, WaitError};
use super::handle::{Handle, RunHandle};
use super::port::{Client, StartedRun};
use crate::workflow::Workflow;

/// A run to start.
#[must_use = "nothing is started until it is awaited"]
pub struct StartRun<W> {
    client: Client,
    workflow: String,
    start: Result<Start, StartError>,
    id: Option<String>,
    typed: PhantomData<fn() -> W>,
}

impl Client {
    /// Starts a run of a workflow, or returns the existing run with the same id.
    pub fn start<W: Workflow>(&self, input: &W::Input) -> StartRun<W> {
        StartRun::new(self, W::NAME, Payload::from_value(input))
    }

    /// Starts a run of a workflow by name, with input as JSON.
    pub fn start_by_name(&self, workflow: impl AsRef<str>, input: Payload) -> StartRun<()> {
        StartRun::new(self, workflow.as_ref(), Ok(input))
    }

    /// Starts many runs of a workflow. Returns the outcomes in the given order. An id that exists
    /// or is repeated returns the existing run; a rejected start does not affect the others.
    pub async fn start_batch<W: Workflow>(
        &self,
        runs: impl IntoIterator<Item = (String, W::Input)>,
    ) -> Vec<Result<Handle<W>, StartError>> {
        let starts = runs
            .into_iter()
            .map(|(id, input)| self.start::<W>(&input).id(id).into_future());
        join_all(starts).await
    }

    /// Starts a run and waits for its end.
    ///
    /// # Errors
    /// If the run cannot be started or does not complete.
    pub async fn start_and_wait<W: Workflow>(
        &self,
        input: &W::Input,
    ) -> Result<W::Output, WaitError> {
        self.start::<W>(input).await?.wait().await
    }
}

impl<W> StartRun<W> {
    fn new(client: &Client, workflow: &str, input: Result<Payload, PayloadError>) -> Self {
        let start = || Ok(Start::new(Name::new(workflow)?, input?));
        Self {
            client: client.clone(),
            workflow: workflow.to_owned(),
            start: start(),
            id: None,
            typed: PhantomData,
        }
    }

    /// Sets the id of the run. Starts with the same id return the same run, with its first input.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds a tag for lists and filters.
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.change(|start| start.tags.push(tag.into()))
    }

    /// Sets a key. All starts of this workflow with the same key return the same run.
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        self.change(|start| start.idempotency_key = Some(key.into()))
    }

    /// Limits the duration of the run, counted from its creation.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.change(|start| start.deadline = Some(deadline))
    }

    /// Sets how often the whole function is retried if it fails.
    pub fn execution_retries(self, retries: u32) -> Self {
        self.change(|start| start.execution_retries = Some(retries))
    }

    /// Rejects an id that exists, instead of returning that run.
    pub fn strict(self) -> Self {
        self.change(|start| start.strict = true)
    }

    /// Sets the trace context of the start: the parent of the run's spans.
    pub fn trace(self, parent: TraceParent) -> Self {
        self.change(|start| start.trace = Some(parent))
    }

    fn change(mut self, change: impl FnOnce(&mut Start)) -> Self {
        if let Ok(start) = &mut self.start {
            change(start);
        }
        self
    }

    async fn run(self) -> Result<RunHandle, StartError> {
        let port = self.client.port;
        let mut start = self.start?;
        start.id = self.id.map(RunId::new).transpose()?;
        let StartedRun {
            run,
            created,
            stream,
        } = port.start(start).await?;
        Ok(RunHandle::new(port, run, created, stream))
    }
}

impl<W: Workflow> IntoFuture for StartRun<W> {
    type Output = Result<Handle<W>, StartError>;
    type IntoFuture = Response<'static, Handle<W>, StartError>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(Handle::new(self.run().await?)) })
    }
}

impl IntoFuture for StartRun<()> {
    type Output = Result<RunHandle, StartError>;
    type IntoFuture = Response<'static, RunHandle, StartError>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<W> std::fmt::Debug for StartRun<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StartRun({})", self.workflow)
    }
}
