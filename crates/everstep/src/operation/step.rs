//! Steps: work that runs inside the workflow's own future, so that it may borrow, and whose result is recorded.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location as Caller, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{Resolution, StepFailure, StepStart};
use everstep_model::{Failure, Payload, RunId, Scope, StepOptions, UndoMode, idempotency_key};
use everstep_store::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handle::Handle;
use super::step_failure::{self, RetryHooks};
use super::undo::{UndoSetup, UndoSlot};
use crate::error::{Error, Result};
use crate::execution::{Cancellation, Shared};
use crate::options::{Options, Retry, invalid, whole_millis};

/// What a step's work can know about its attempt.
#[derive(Clone, Debug)]
pub struct StepContext {
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The step's name.
    pub name: String,
    /// How many steps of that name came before in the same scope.
    pub count: u32,
    /// How it is executed.
    pub options: StepOptions,
    run: RunId,
    generation: everstep_model::Generation,
    location: everstep_model::Location,
    cancellation: Arc<Cancellation>,
    undo: UndoSlot,
}

impl StepContext {
    /// Whether the run is being cancelled: the sooner the work ends, the sooner the run does.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_set()
    }

    /// Completes when the run is being cancelled.
    pub async fn cancelled(&self) {
        self.cancellation.until_set().await;
    }

    /// The key that all attempts of this step share and no other step has: give it to services that deduplicate.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        idempotency_key(&self.run, self.generation, &self.location)
    }

    pub(super) fn undo_slot(&self) -> &UndoSlot {
        &self.undo
    }
}

/// A step. Configure it, then await it.
#[must_use = "a step does nothing until it is awaited"]
pub struct Step<F, Fut, T> {
    handle: Handle,
    scope: Scope,
    name: String,
    options: Options,
    best_effort: bool,
    sensitive: bool,
    fenced: bool,
    ephemeral: bool,
    hooks: RetryHooks,
    undo: UndoSetup,
    work: F,
    attempt: Option<Attempt<Fut>>,
    /// Whether the run has called as many steps as it may, without this one.
    is_too_many: bool,
    site: &'static Caller<'static>,
    result: PhantomData<fn() -> T>,
}

/// An attempt under way.
struct Attempt<Fut> {
    start: StepStart,
    work: Option<Pin<Box<Fut>>>,
    timeout: Option<BoxFuture<'static, ()>>,
    undo: UndoSlot,
}

// The work is boxed before it is polled, so nothing in a step is ever pinned in place.
impl<F, Fut, T> Unpin for Step<F, Fut, T> {}

impl<F, Fut, T> Step<F, Fut, T> {
    pub(crate) fn new(
        shared: Arc<Shared>,
        scope: Scope,
        name: String,
        work: F,
        site: &'static Caller<'static>,
    ) -> Self {
        Self {
            handle: Handle::new(shared),
            scope,
            name,
            options: Options::new(),
            best_effort: false,
            sensitive: false,
            fenced: false,
            ephemeral: false,
            hooks: RetryHooks::default(),
            undo: UndoSetup::default(),
            work,
            attempt: None,
            is_too_many: false,
            site,
            result: PhantomData,
        }
    }

    /// How it is retried.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.options.retry = Some(retry);
        self
    }

    /// How long one attempt may take. Taking longer is final, unless timeouts are retried.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Treat an attempt that took too long like any other failure.
    pub fn retry_timeouts(mut self) -> Self {
        self.options.retry_timeouts = Some(true);
        self
    }

    /// Retry only errors for which this says so.
    pub fn retry_if(mut self, retry_if: impl Fn(&Failure) -> bool + Send + 'static) -> Self {
        self.hooks.retry_if = Some(Box::new(retry_if));
        self
    }

    /// How long to wait after the failure of an attempt, in place of the policy's own delay.
    pub fn delay(mut self, delay: impl Fn(u32, &Failure) -> Duration + Send + 'static) -> Self {
        self.hooks.delay = Some(Box::new(delay));
        self
    }

    /// Its failure never fails the workflow: `None` when it has failed for good.
    pub fn best_effort(mut self) -> BestEffort<F, Fut, T> {
        self.best_effort = true;
        BestEffort(self)
    }

    /// Its start is durable before it runs, so that nobody else can be running it unnoticed.
    pub fn fenced(mut self) -> Self {
        self.fenced = true;
        self
    }

    /// Its result takes effect at once and becomes durable with the run's next commit, so it costs no commit of its own. After a
    /// crash in between it runs again: for work that may be repeated.
    pub fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// Its result is redacted in every view; the code gets the true value.
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    pub(super) fn undo_setup(&mut self) -> &mut UndoSetup {
        &mut self.undo
    }

    fn resolve_options(&self) -> Result<StepOptions> {
        let options = self.options.over(self.handle.shared().defaults());
        options.check()?;
        if options
            .timeout
            .is_some_and(|timeout| timeout > Duration::from_secs(u64::from(u32::MAX)))
        {
            return Err(invalid("a step's timeout must be shorter than 136 years"));
        }
        let options = StepOptions {
            retry: options.retry.unwrap_or_default().policy(),
            timeout: options.timeout.map(whole_millis),
            retry_timeouts: options.retry_timeouts.unwrap_or_default(),
            best_effort: self.best_effort,
            sensitive: self.sensitive,
            ephemeral: self.ephemeral,
            fenced: self.fenced,
            undo: UndoMode::None,
        };
        let undo = self.undo.mode()?;
        if self.ephemeral && !undo.is_none() {
            return Err(invalid(
                "an ephemeral step has no undo: its result may be lost, and then nobody knows what to undo",
            ));
        }
        Ok(StepOptions { undo, ..options })
    }
}

impl<F, Fut, T, E> Step<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Serialize + DeserializeOwned,
    E: Into<Error>,
{
    fn poll_resolution(&mut self, context: &mut Context<'_>) -> Poll<Result<Resolution>> {
        let is_new = self.handle.op().is_none();
        let options = if is_new {
            Some(self.resolve_options())
        } else {
            None
        };
        let (scope, name, site) = (&self.scope, &self.name, self.site);
        let steps_max = self.handle.shared().defaults().steps_max;
        let is_too_many = &mut self.is_too_many;
        let resolved = self.handle.poll(context, |replay| {
            let name = replay.name(name)?;
            let options = options.unwrap_or_else(|| Ok(StepOptions::default()))?;
            let called = replay.call_step(scope, &name, options, site);
            *is_too_many = steps_max.is_some_and(|max| replay.steps_called() > u64::from(max));
            Ok(called)
        });
        if is_new
            && let Some(op) = self.handle.op()
            && let Some(undo) = self.undo.take()
        {
            self.handle.shared().give_undo(op, undo);
        }
        if resolved.is_pending() {
            self.work_on(context);
        }
        resolved
    }

    /// Begins the next attempt when it is due, and polls the one under way.
    fn work_on(&mut self, context: &mut Context<'_>) {
        if self.attempt.is_none() {
            self.attempt = self.begin();
        }
        let Some(attempt) = &mut self.attempt else {
            return;
        };
        let ended = if self.is_too_many {
            let error = step_failure::too_many_steps(self.handle.shared().defaults().steps_max);
            Poll::Ready(Ended::Returned(Err(error)))
        } else {
            let calls = self.handle.shared().state().replay.suspend_calls();
            let ended = attempt.poll(context, &mut self.work, self.handle.shared());
            self.handle.shared().state().replay.restore_calls(calls);
            ended
        };
        if let Poll::Ready(ended) = ended
            && let Some(mut attempt) = self.attempt.take()
        {
            if !attempt.start.options.undo.is_none() {
                attempt.start.undo = attempt.undo.take();
            }
            self.record(attempt.start, ended);
        }
    }

    fn begin(&self) -> Option<Attempt<Fut>> {
        let op = self.handle.op()?;
        let shared = self.handle.shared();
        let start = shared.begin_attempt(op)?;
        let timeout = start
            .options
            .timeout
            .map(|timeout| shared.runtime().sleep(timeout));
        Some(Attempt {
            start,
            work: None,
            timeout,
            undo: UndoSlot::default(),
        })
    }

    fn record(&self, start: StepStart, ended: Ended<T>) {
        let Some(op) = self.handle.op() else { return };
        let shared = self.handle.shared();
        let result = match ended {
            Ended::Returned(Ok(value)) => Payload::from_value(&value)
                .map_err(|error| step_failure::unrecordable(&self.name, &error)),
            Ended::Mocked(Ok(payload)) => Ok(payload),
            Ended::Returned(Err(error)) | Ended::Mocked(Err(error)) => Err(error),
            Ended::TimedOut(timeout) => {
                let failure = step_failure::timed_out(&self.name, timeout);
                return shared.fail_attempt(
                    op,
                    &self.undo.of_failure(start),
                    failure,
                    everstep_machine::FailureClass::TimedOut,
                );
            }
        };
        match result {
            Ok(payload) => shared.complete_attempt(op, &start, payload),
            Err(error) => {
                let (failure, class) = self.hooks.classify(error, start.attempt);
                shared.fail_attempt(op, &self.undo.of_failure(start), failure, class);
            }
        }
    }
}

/// How an attempt ended.
enum Ended<T> {
    Returned(Result<T>),
    Mocked(Result<Payload>),
    TimedOut(Duration),
}

impl<Fut> Attempt<Fut> {
    fn poll<F, T, E>(
        &mut self,
        context: &mut Context<'_>,
        work: &mut F,
        shared: &Shared,
    ) -> Poll<Ended<T>>
    where
        F: FnMut(StepContext) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        E: Into<Error>,
    {
        let start = &self.start;
        if self.work.is_none()
            && let Some(mocked) = shared.mocked(start)
        {
            return Poll::Ready(Ended::Mocked(mocked));
        }
        let (running, undo) = (&mut self.work, &self.undo);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let work = running.get_or_insert_with(|| {
                let context = shared.step_context(start, undo.clone());
                Box::pin(work(context))
            });
            work.as_mut().poll(context)
        }));
        match polled {
            Ok(Poll::Ready(result)) => {
                return Poll::Ready(Ended::Returned(result.map_err(Into::into)));
            }
            Err(panic) => {
                return Poll::Ready(Ended::Returned(Err(step_failure::panicked(&*panic))));
            }
            Ok(Poll::Pending) => {}
        }
        match (&mut self.timeout, self.start.options.timeout) {
            (Some(timer), Some(timeout)) => timer
                .as_mut()
                .poll(context)
                .map(|()| Ended::TimedOut(timeout)),
            _ => Poll::Pending,
        }
    }
}

impl StepContext {
    pub(crate) fn new(
        start: &StepStart,
        run: RunId,
        generation: everstep_model::Generation,
        cancellation: Arc<Cancellation>,
        undo: UndoSlot,
    ) -> Self {
        Self {
            attempt: start.attempt,
            name: start.location.name.to_string(),
            count: start.location.counter,
            options: start.options,
            run,
            generation,
            location: start.location.clone(),
            cancellation,
            undo,
        }
    }
}

fn decode<T: DeserializeOwned>(name: &str, payload: &Payload) -> Result<T> {
    payload.decode().map_err(|error| {
        let message =
            format!("the recorded result of step `{name}` does not fit its type: {error}");
        let failure = Failure::new(everstep_model::ErrorCode::Undecodable, message);
        Error::from_failure(failure).non_retryable()
    })
}

/// What a step gives its caller: its result, or its failure as data.
fn settle<T: DeserializeOwned>(
    name: &str,
    resolution: Resolution,
) -> Result<Result<T, StepFailure>> {
    match resolution {
        Resolution::Completed(payload) => decode(name, &payload).map(Ok),
        Resolution::Failed(failure) => Ok(Err(*failure)),
        other => Err(Error::fatal(format!(
            "step `{name}` was resolved by {other:?}"
        ))),
    }
}

impl<F, Fut, T, E> Future for Step<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Serialize + DeserializeOwned,
    E: Into<Error>,
{
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.poll_resolution(context)
            .map(|resolution| settle(&this.name, resolution?)?.map_err(Error::from_step))
    }
}

/// A step that gives its failure back as data.
#[must_use = "a step does nothing until it is awaited"]
pub struct TryStep<F, Fut, T>(Step<F, Fut, T>);

impl<F, Fut, T> TryStep<F, Fut, T> {
    pub(crate) fn new(step: Step<F, Fut, T>) -> Self {
        Self(step)
    }

    /// The same step, configured further.
    pub fn with(self, configure: impl FnOnce(Step<F, Fut, T>) -> Step<F, Fut, T>) -> Self {
        Self(configure(self.0))
    }
}

impl<F, Fut, T, E> Future for TryStep<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Serialize + DeserializeOwned,
    E: Into<Error>,
{
    type Output = Result<Result<T, StepFailure>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let step = &mut self.0;
        step.poll_resolution(context).map(|resolution| {
            let settled = settle(&step.name, resolution?)?;
            // An error that asks to roll back is not for the code to swallow.
            match settled {
                Err(failure)
                    if failure.outcome == everstep_model::record::FailureOutcome::RollBack =>
                {
                    Err(Error::from_step(failure))
                }
                settled => Ok(settled),
            }
        })
    }
}

/// A step whose failure never fails the workflow.
#[must_use = "a step does nothing until it is awaited"]
pub struct BestEffort<F, Fut, T>(Step<F, Fut, T>);

impl<F, Fut, T, E> Future for BestEffort<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Serialize + DeserializeOwned,
    E: Into<Error>,
{
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let step = &mut self.0;
        let resolved = step.poll_resolution(context);
        resolved.map(|resolution| settle(&step.name, resolution?).map(Result::ok))
    }
}

impl<F, Fut, T> std::fmt::Debug for BestEffort<F, Fut, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BestEffort({})", self.0.name)
    }
}

impl<F, Fut, T> std::fmt::Debug for Step<F, Fut, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Step({})", self.name)
    }
}

impl<F, Fut, T> std::fmt::Debug for TryStep<F, Fut, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TryStep({})", self.0.name)
    }
}
