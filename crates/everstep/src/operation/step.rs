//! Steps: work that runs inside the workflow's own future, so that it may borrow, and whose result is recorded.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, Resolution, StepFailure, StepStart};
use everstep_model::{Failure, Payload, Scope, StepOptions, UndoMode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handle::Handle;
use super::step_attempt::{Attempt, Ended};
use super::step_failure::{self, RetryHooks};
use super::undo::UndoSetup;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::execution::StepContext;
use crate::options::{Options, Retry, invalid, whole_millis};

impl<W> Ctx<W> {
    /// A named unit of work whose result is recorded once. It is retried as its options say.
    #[track_caller]
    pub fn step<F, Fut, T, E>(
        &self,
        name: &str,
        mut work: F,
    ) -> Step<impl FnMut(StepContext) -> Fut + use<F, Fut, T, E, W>, Fut, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
    {
        self.step_with(name, move |_| work())
    }

    /// A step whose work sees the attempt it is and the step's idempotency key.
    #[track_caller]
    pub fn step_with<F, Fut, T, E>(&self, name: &str, work: F) -> Step<F, Fut, T>
    where
        F: FnMut(StepContext) -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
    {
        Step::new(self, name, work, CallSite::caller())
    }
}

/// A step. Configure it, then await it.
#[must_use = "a step does nothing until it is awaited"]
pub struct Step<F, Fut, T> {
    handle: Handle,
    scope: Scope,
    pub(super) name: String,
    options: Options,
    pub(super) best_effort: bool,
    sensitive: bool,
    fenced: bool,
    ephemeral: bool,
    hooks: RetryHooks,
    undo: UndoSetup,
    work: F,
    attempt: Option<Attempt<Fut>>,
    /// Whether the run has called as many steps as it may, without this one.
    is_too_many: bool,
    site: CallSite,
    result: PhantomData<fn() -> T>,
}

// The work is boxed before it is polled, so nothing in a step is ever pinned in place.
impl<F, Fut, T> Unpin for Step<F, Fut, T> {}

impl<F, Fut, T> Step<F, Fut, T> {
    fn new<W>(ctx: &Ctx<W>, name: &str, work: F, site: CallSite) -> Self {
        Self {
            handle: Handle::new(ctx.shared().clone()),
            scope: ctx.scope().clone(),
            name: name.to_owned(),
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
    pub(super) fn poll_resolution(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Resolution>> {
        let is_new = self.handle.op().is_none();
        let options = if is_new {
            Some(self.resolve_options())
        } else {
            None
        };
        let (scope, name, site) = (&self.scope, &self.name, self.site);
        let steps_max = self.handle.shared().defaults().steps_max;
        let is_too_many = &mut self.is_too_many;
        let mut begun = None;
        let resolved = self.handle.poll(context, |replay| {
            let name = replay.name(name)?;
            let options = options.unwrap_or_else(|| Ok(StepOptions::default()))?;
            let called = replay.call(scope, &name, options, site);
            *is_too_many = steps_max.is_some_and(|max| replay.steps_called() > u64::from(max));
            begun = called.and_then(|op| replay.begin_attempt(op));
            Ok(called)
        });
        if is_new
            && let Some(op) = self.handle.op()
            && let Some(undo) = self.undo.take()
        {
            self.handle.shared().give_undo(op, undo);
        }
        if resolved.is_pending() {
            if self.attempt.is_none() {
                let start = if is_new { begun } else { self.begin() };
                let shared = self.handle.shared();
                self.attempt = start.map(|start| Attempt::new(start, shared));
            }
            self.work_on(context);
        }
        resolved
    }

    /// Polls the attempt in flight.
    fn work_on(&mut self, context: &mut Context<'_>) {
        let Some(attempt) = &mut self.attempt else {
            return;
        };
        let ended = if self.is_too_many {
            let error = step_failure::too_many_steps(self.handle.shared().defaults().steps_max);
            Poll::Ready(Ended::Returned(Err(error)))
        } else {
            let shared = self.handle.shared();
            shared.in_step(|| attempt.poll(context, &mut self.work, shared))
        };
        if let Poll::Ready(ended) = ended
            && let Some(mut attempt) = self.attempt.take()
        {
            attempt.start.undo = attempt.undo.take();
            self.record(attempt.start, ended);
        }
    }

    /// Begins the next attempt when it is due.
    fn begin(&self) -> Option<StepStart> {
        let op = self.handle.op()?;
        self.handle.shared().begin_attempt(op)
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

fn decode<T: DeserializeOwned>(name: &str, payload: &Payload) -> Result<T> {
    payload.decode().map_err(|error| {
        let message =
            format!("the recorded result of step `{name}` does not fit its type: {error}");
        let failure = Failure::new(everstep_model::ErrorCode::Undecodable, message);
        Error::from_failure(failure).non_retryable()
    })
}

/// What a step gives its caller: its result, or its failure as data.
pub(super) fn settle<T: DeserializeOwned>(
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

impl<F, Fut, T> std::fmt::Debug for Step<F, Fut, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Step({})", self.name)
    }
}
