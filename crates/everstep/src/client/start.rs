//! Starting runs: configured like a builder, awaited directly.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::Start;

use super::StartError;
use everstep_model::{Name, Payload, PayloadError, RunId, TraceParent};
use futures_util::future::join_all;

use super::Client;
use super::Port;
use super::{Handle, RunHandle, WaitError};
use crate::workflow::Workflow;

/// A run to start.
#[must_use = "nothing is started until it is awaited"]
pub struct StartRun<W> {
    port: Arc<dyn Port>,
    workflow: String,
    input: Result<Payload, PayloadError>,
    id: Option<String>,
    tags: Vec<String>,
    idempotency_key: Option<String>,
    deadline: Option<Duration>,
    execution_retries: Option<u32>,
    strict: bool,
    trace: Option<TraceParent>,
    typed: PhantomData<fn() -> W>,
}

impl Client {
    /// Starts a run of a workflow, or gives the existing run of that id.
    pub fn start<W: Workflow>(&self, input: &W::Input) -> StartRun<W> {
        StartRun::new(
            self.port.clone(),
            W::NAME.to_owned(),
            Payload::from_value(input),
        )
    }

    /// Starts a run of a workflow by name, with input as JSON.
    pub fn start_by_name(&self, workflow: impl Into<String>, input: Payload) -> StartRun<()> {
        StartRun::new(self.port.clone(), workflow.into(), Ok(input))
    }

    /// Starts many runs of a workflow, and reports on each in the order given. An id that exists, or comes twice, gives the
    /// existing run; one that is refused does not keep the others from starting.
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
    /// If it cannot be started, or ends otherwise than with a result.
    pub async fn start_and_wait<W: Workflow>(
        &self,
        input: &W::Input,
    ) -> Result<W::Output, WaitError> {
        self.start::<W>(input).await?.wait().await
    }
}

impl<W> StartRun<W> {
    fn new(port: Arc<dyn Port>, workflow: String, input: Result<Payload, PayloadError>) -> Self {
        Self {
            port,
            workflow,
            input,
            id: None,
            tags: Vec::new(),
            idempotency_key: None,
            deadline: None,
            execution_retries: None,
            strict: false,
            trace: None,
            typed: PhantomData,
        }
    }

    /// The run's id. The same id gives the same run, whose first input is kept.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// A word to find the run by.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// A key that leads every start with it to one run of this workflow.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// How long the run may take, counted from its creation.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How often the whole function is run again when it fails.
    pub fn execution_retries(mut self, retries: u32) -> Self {
        self.execution_retries = Some(retries);
        self
    }

    /// Refuses an id that exists, instead of giving that run.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// The place in a trace from which it is started: the run's own spans hang below it.
    pub fn trace(mut self, parent: TraceParent) -> Self {
        self.trace = Some(parent);
        self
    }

    async fn run(self) -> Result<RunHandle, StartError> {
        let mut start = Start::new(Name::new(&self.workflow)?, self.input?);
        start.id = self.id.map(RunId::new).transpose()?;
        start.tags = self.tags;
        start.idempotency_key = self.idempotency_key;
        start.deadline = self.deadline;
        start.execution_retries = self.execution_retries;
        start.strict = self.strict;
        start.trace = self.trace;
        let begun = self.port.start(start).await?;
        Ok(RunHandle::new(self.port, begun))
    }
}

type StartFuture<H> = Pin<Box<dyn Future<Output = Result<H, StartError>> + Send>>;

impl<W: Workflow> IntoFuture for StartRun<W> {
    type Output = Result<Handle<W>, StartError>;
    type IntoFuture = StartFuture<Handle<W>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(Handle::new(self.run().await?)) })
    }
}

impl IntoFuture for StartRun<()> {
    type Output = Result<RunHandle, StartError>;
    type IntoFuture = StartFuture<RunHandle>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<W> std::fmt::Debug for StartRun<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StartRun({})", self.workflow)
    }
}
