//! Steps: work with a recorded result. It is polled inside the workflow's own future, so it may
//! borrow.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, FailureClass, Resolution, StepFailure, StepStart};
use everstep_model::{Failure, StepOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handle::{Handle, unexpected};
use super::recorded::Recorded;
use super::step_attempt::{Attempt, Ended};
use super::step_failure::{self, RetryHooks};
use super::undo::{UndoSetup, undo_options};
use crate::ctx::Ctx;
use crate::error::{Error, Result, decode, encode, timed_out};
use crate::execution::StepContext;
use crate::options::{Options, Retry, invalid, whole_millis};

impl<W> Ctx<W> {
    /// Executes work and records its result once. The work is retried according to its options.
    ///
    /// Work may borrow. In `tokio::join!` and the like, wrap a step whose work borrows in an
    /// `async` block:
    ///
    /// ```
    /// # use everstep::{Ctx, Result, Workflows};
    /// async fn fetch(url: &str) -> Result<usize> {
    ///     Ok(url.len())
    /// }
    ///
    /// let workflows = Workflows::new().function("sizes", |ctx: Ctx, url: String| async move {
    ///     let (a, b) = tokio::join!(
    ///         async { ctx.step("page", || fetch(&url)).await },
    ///         async { ctx.step("icon", || fetch("/icon.svg")).await },
    ///     );
    ///     Ok(a? + b?)
    /// });
    /// ```
    ///
    /// Without the blocks the compiler does not accept the function, because it cannot compare the
    /// lifetimes ("one type is more general than the other"):
    ///
    /// ```compile_fail,E0308
    /// # use everstep::{Ctx, Result, Workflows};
    /// # async fn fetch(url: &str) -> Result<usize> {
    /// #     Ok(url.len())
    /// # }
    /// let workflows = Workflows::new().function("sizes", |ctx: Ctx, url: String| async move {
    ///     let (a, b) = tokio::join!(ctx.step("page", || fetch(&url)), ctx.step("icon", || fetch("/icon.svg")));
    ///     Ok(a? + b?)
    /// });
    /// ```
    // B746
    #[track_caller]
    pub fn step<F, Fut, T, E>(
        &self,
        name: &str,
        mut work: F,
    ) -> Step<impl FnMut(StepContext) -> Fut + use<F, Fut, T, E, W>, Fut, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Recorded,
        E: Into<Error>,
    {
        self.step_with(name, move |_| work())
    }

    /// Executes a step whose work receives the attempt and the idempotency key.
    #[track_caller]
    pub fn step_with<F, Fut, T, E>(&self, name: &str, work: F) -> Step<F, Fut, T>
    where
        F: FnMut(StepContext) -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Recorded,
        E: Into<Error>,
    {
        Step::new(self, name, work, CallSite::caller())
    }
}

/// The longest timeout of an attempt.
const TIMEOUT_MAX: Duration = Duration::from_secs(u32::MAX as u64);

/// A step. Configure it, then await it.
#[must_use = "a step does nothing until it is awaited"]
pub struct Step<F, Fut, T> {
    handle: Handle,
    pub(super) name: String,
    options: Options,
    pub(super) best_effort: bool,
    sensitive: bool,
    fenced: bool,
    ephemeral: bool,
    no_return: bool,
    hooks: RetryHooks,
    undo: UndoSetup,
    work: F,
    attempt: Option<Attempt<Fut>>,
    /// Whether the step exceeds the limit of steps per run.
    is_too_many: bool,
    result: PhantomData<fn() -> T>,
}

// The work is boxed before it is polled, so nothing in a step is ever pinned in place.
impl<F, Fut, T> Unpin for Step<F, Fut, T> {}

impl<F, Fut, T> Step<F, Fut, T> {
    fn new<W>(ctx: &Ctx<W>, name: &str, work: F, site: CallSite) -> Self {
        Self {
            handle: Handle::new(ctx, site),
            name: name.to_owned(),
            options: Options::new(),
            best_effort: false,
            sensitive: false,
            fenced: false,
            ephemeral: false,
            no_return: false,
            hooks: RetryHooks::default(),
            undo: UndoSetup::default(),
            work,
            attempt: None,
            is_too_many: false,
            result: PhantomData,
        }
    }

    /// Sets the retry policy.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.options.retry = Some(retry);
        self
    }

    /// Limits the duration of an attempt. A timeout is final, unless timeouts are retried.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Retries timeouts like other failures.
    pub fn retry_timeouts(mut self) -> Self {
        self.options.retry_timeouts = Some(true);
        self
    }

    /// Retries only errors for which this returns true.
    pub fn retry_if(mut self, retry_if: impl Fn(&Failure) -> bool + Send + 'static) -> Self {
        self.hooks.retry_if = Some(Box::new(retry_if));
        self
    }

    /// Computes the delay after a failed attempt, in place of the policy's delay.
    pub fn delay(mut self, delay: impl Fn(u32, &Failure) -> Duration + Send + 'static) -> Self {
        self.hooks.delay = Some(Box::new(delay));
        self
    }

    /// Makes the start of each attempt durable before it runs, so that no other node executes it
    /// concurrently.
    pub fn fenced(mut self) -> Self {
        self.fenced = true;
        self
    }

    /// Lets the result take effect at once and become durable with the run's next commit, which
    /// saves a commit. After a crash in between the step runs again, so its work must be
    /// repeatable.
    pub fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// Makes the step the point of no return: once it has completed, only undos marked as internal
    /// run. The record of its result says so, so nothing can come between the two, unlike
    /// [`Ctx::no_return`] after the step.
    ///
    /// A cancellation, a deadline and a forced failure of the run wait for an attempt that has
    /// begun, also if its process dies: then the next process repeats the attempt first. The start
    /// of each attempt is therefore durable, as with
    /// [`Self::fenced`].
    pub fn no_return(mut self) -> Self {
        self.no_return = true;
        self
    }

    /// Redacts the result in every view. The code receives the true value.
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    undo_options! {
        "the step",
        /// Sets the undo of the step, which runs when the run rolls back. The undo receives the
        /// result of the step and owns what it captures.
        ///
        /// ```
        /// # use everstep::{AnyEvent, Ctx, Error, Result};
        /// # #[derive(Clone)]
        /// # struct Bank;
        /// # impl Bank {
        /// #     async fn charge(&self) -> Result<u32> { Ok(7) }
        /// #     async fn refund(&self, _: u32) -> Result<()> { Ok(()) }
        /// # }
        /// async fn pay(ctx: Ctx<AnyEvent>, bank: Bank) -> Result<u32> {
        ///     let refunder = bank.clone();
        ///     ctx.step("charge", || bank.charge())
        ///         .undo(move |charge| async move { refunder.refund(charge).await })
        ///         .await
        /// }
        /// ```
        undo,
        /// Sets the undo of the step. It receives an [`Undo`](super::Undo): the result, the
        /// registered payload, why the run rolls back, and the context of the step. It also runs
        /// for a step that failed after it had registered a payload.
        undo_with
    }

    fn resolve_options(&self) -> Result<StepOptions> {
        let options = self.options.over(self.handle.shared().defaults());
        options.check()?;
        if options.timeout > Some(TIMEOUT_MAX) {
            return Err(invalid("a step's timeout must be shorter than 136 years"));
        }
        let undo = self.undo.mode()?;
        if self.ephemeral && !undo.is_none() {
            return Err(invalid(
                "an ephemeral step has no undo: its result may be lost, and the undo needs it",
            ));
        }
        if self.ephemeral && self.no_return {
            return Err(invalid(
                "an ephemeral step is no point of no return: its result may be lost",
            ));
        }
        Ok(StepOptions {
            retry: options.retry.unwrap_or_default().policy(),
            timeout: options.timeout.map(whole_millis),
            retry_timeouts: options.retry_timeouts.unwrap_or_default(),
            best_effort: self.best_effort,
            sensitive: self.sensitive,
            ephemeral: self.ephemeral,
            fenced: self.fenced,
            undo,
            no_return: self.no_return,
        })
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
        let options = is_new.then(|| self.resolve_options());
        let name = &self.name;
        let steps_max = self.handle.shared().defaults().steps_max;
        let is_too_many = &mut self.is_too_many;
        let mut begun = None;
        let resolved = self.handle.poll_with(context, |replay, scope, site| {
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
        let shared = self.handle.shared();
        shared.with(|execution| execution.replay.begin_attempt(op))?
    }

    fn record(&self, start: StepStart, ended: Ended<T>) {
        let Some(op) = self.handle.op() else { return };
        let shared = self.handle.shared();
        let result = match ended {
            Ended::Returned(Ok(value)) => {
                encode(&value, || format!("the result of step `{}`", self.name))
            }
            Ended::Mocked(Ok(payload)) => Ok(payload),
            Ended::Returned(Err(error)) | Ended::Mocked(Err(error)) => Err(error),
            Ended::TimedOut(timeout) => {
                let failure = timed_out(&format!("step `{}`", self.name), timeout);
                let start = self.undo.of_failure(start);
                return shared.fail_attempt(op, &start, failure, FailureClass::TimedOut);
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

/// Converts a resolution to the result of the step, or its failure as data.
pub(super) fn to_output<T: DeserializeOwned>(
    name: &str,
    resolution: Resolution,
) -> Result<Result<T, StepFailure>> {
    match resolution {
        Resolution::Completed(payload) => {
            decode(&payload, || format!("the recorded result of step `{name}`")).map(Ok)
        }
        Resolution::Failed(failure) => Ok(Err(*failure)),
        other => Err(unexpected(&format!("step `{name}`"), &other)),
    }
}

impl<F, Fut, T, E> Future for Step<F, Fut, T>
where
    F: FnMut(StepContext) -> Fut,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Recorded,
    E: Into<Error>,
{
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.poll_resolution(context)
            .map(|resolution| to_output(&this.name, resolution?)?.map_err(Error::from_step))
    }
}
debug_by_name!(impl<F, Fut, T> Step<F, Fut, T>: name);
