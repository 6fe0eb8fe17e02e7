//! Children: starting another run and waiting for its end, or not.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, ChildCall, ChildEnd, Resolution};
use everstep_model::record::{ChildOutcome, ParentClose};
use everstep_model::{
    ErrorCode, Failure, Name, Payload, PayloadError, RunId, Scope, UndoMode, limits,
};
use serde::de::DeserializeOwned;

use super::handle::Handle;
use super::undo::{Undo, UndoSetup};
use crate::ctx::Ctx;
use crate::error::{ChildFailure, Error, Result};
use crate::options::{Retry, invalid, whole_millis};
use crate::workflow::Workflow;

impl<W> Ctx<W> {
    /// Starts another run and waits for its end. The same child is found again on every replay.
    #[track_caller]
    pub fn child<C: Workflow>(&self, input: &C::Input) -> Child<C::Output> {
        let input = Payload::from_value(input);
        Child::new(self, C::NAME, input, CallSite::caller())
    }

    /// Starts a run of the workflow of that name and waits for its end; input and result as JSON.
    #[track_caller]
    pub fn child_by_name(&self, workflow: &str, input: Payload) -> Child<Payload> {
        Child::new(self, workflow, Ok(input), CallSite::caller())
    }
}

/// A child, waited for as long as it takes. Gives what it returned; its failure is an error with the code
/// `child_failed` and the child's own failure as its cause.
#[must_use = "a child is not started until it is awaited"]
pub struct Child<T> {
    call: Call,
    decode: fn(&Payload) -> Result<T, PayloadError>,
}

/// A child that is waited for only so long: `None` when it had not ended in time, the same on every replay.
#[must_use = "a child is not started until it is awaited"]
pub struct ChildWithin<T>(Child<T>);

/// A child that nobody waits for: gives its id.
#[must_use = "a child is not started until it is awaited"]
pub struct DetachedChild(Call);

struct Call {
    handle: Handle,
    scope: Scope,
    workflow: String,
    place: Option<String>,
    id: Option<String>,
    input: Option<Result<Payload, PayloadError>>,
    tags: Vec<String>,
    timeout: Option<Duration>,
    on_close: ParentClose,
    undo: UndoSetup,
    site: CallSite,
}

impl<T: DeserializeOwned> Child<T> {
    fn new<W>(
        ctx: &Ctx<W>,
        workflow: &str,
        input: Result<Payload, PayloadError>,
        site: CallSite,
    ) -> Self {
        Self {
            call: Call {
                handle: Handle::new(ctx.shared().clone()),
                scope: ctx.scope().clone(),
                workflow: workflow.to_owned(),
                place: None,
                id: None,
                input: Some(input),
                tags: Vec::new(),
                timeout: None,
                on_close: ParentClose::default(),
                undo: UndoSetup::default(),
                site,
            },
            decode: |payload| payload.decode(),
        }
    }

    /// The child's id. A run of the same workflow that has it already is waited for and left alone; a run of another
    /// workflow is an error. Without it the id follows from the parent and the place, so that no crash starts it twice.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.call.id = Some(id.into());
        self
    }

    /// A stable place for this child, independent of how often its workflow is started elsewhere.
    pub fn place(mut self, name: impl Into<String>) -> Self {
        self.call.place = Some(name.into());
        self
    }

    /// A word to find the child by.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.call.tags.push(tag.into());
        self
    }

    /// What becomes of the child when the code stops waiting for it: when this run ends first or is cancelled, when the
    /// timeout passes, when the operation is dropped. Unless said otherwise it is cancelled.
    pub fn on_parent_close(mut self, on_close: ParentClose) -> Self {
        self.call.on_close = on_close;
        self
    }

    /// Stops waiting after this long. The deadline is fixed by the first call and survives restarts.
    pub fn timeout(mut self, timeout: Duration) -> ChildWithin<T> {
        self.call.timeout = Some(whole_millis(timeout));
        ChildWithin(self)
    }

    /// How the child is undone when this run rolls back after the child has completed: a child that failed or was cancelled
    /// has undone what it did itself. The undo is given what the child returned, owns what it captures, and is retried like
    /// a step of this workflow unless said otherwise.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Payload, Result};
    /// async fn order(ctx: Ctx, parcel: Payload) -> Result<()> {
    ///     ctx.child_by_name("ship", parcel)
    ///         .undo(|label: Payload| async move { call_back(label).await })
    ///         .await?;
    ///     Err(Error::fatal("the customer changed their mind"))
    /// }
    /// # async fn call_back(_: Payload) -> Result<()> { Ok(()) }
    /// ```
    pub fn undo<U, UndoFut, R, E>(mut self, undo: U) -> Self
    where
        U: FnOnce(T) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
    {
        self.call.undo.by_output(undo);
        self
    }

    /// How the child is undone, given all there is to know: what it returned, which run it is, why this run rolls back.
    pub fn undo_with<U, UndoFut, R, E>(mut self, undo: U) -> Self
    where
        U: FnOnce(Undo<T>) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
    {
        self.call.undo.by_everything(undo);
        self
    }

    /// The undo runs even after the point of no return ([`crate::Ctx::no_return`]).
    pub fn undo_internal(mut self) -> Self {
        self.call.undo.internal = true;
        self
    }

    /// How the undo is retried; like this workflow's steps unless said.
    pub fn undo_retry(mut self, retry: Retry) -> Self {
        self.call.undo.retry = Some(retry);
        self
    }

    /// How long one attempt to undo the child may take; as long as an attempt of this workflow's steps unless said.
    pub fn undo_timeout(mut self, timeout: Duration) -> Self {
        self.call.undo.timeout = Some(timeout);
        self
    }

    /// Does not wait: gives the child's id at once. The child lives on its own from then on.
    pub fn detach(self) -> DetachedChild {
        DetachedChild(self.call)
    }

    /// What the child returned; none if the code stopped waiting for it.
    fn output(&self, end: ChildEnd) -> Result<Option<T>> {
        let workflow = &self.call.workflow;
        let (error, cancelled) = match end.outcome {
            None => return Ok(None),
            Some(ChildOutcome::Completed(result)) => {
                let output = (self.decode)(&result);
                return output
                    .map(Some)
                    .map_err(|error| undecodable(workflow, &error));
            }
            Some(ChildOutcome::Failed(error)) => (error, false),
            Some(ChildOutcome::Cancelled(error)) => (error, true),
        };
        Err(Error::from_child(ChildFailure {
            location: end.location,
            run: end.run,
            workflow: workflow.clone(),
            error,
            cancelled,
        }))
    }
}

fn undecodable(workflow: &str, error: &PayloadError) -> Error {
    let message = format!("the result of child `{workflow}` does not fit its type: {error}");
    Error::from_failure(Failure::new(ErrorCode::Undecodable, message)).non_retryable()
}

impl Call {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<ChildEnd>> {
        let called = self.take_call();
        let is_new = called.is_some();
        let place = self.place.as_deref().unwrap_or(&self.workflow);
        let (scope, site) = (&self.scope, self.site);
        let resolved = self.handle.poll(context, |replay| {
            let (place, call) = (replay.name(place)?, called.transpose()?);
            Ok(call.and_then(|call| replay.call(scope, &place, call, site)))
        });
        if is_new {
            self.give_undo();
        }
        resolved.map(|resolution| match resolution? {
            Resolution::Child(end) => Ok(*end),
            other => Err(Error::fatal(format!(
                "child `{}` was resolved by {other:?}",
                self.workflow
            ))),
        })
    }

    /// Its undo is executed like a step of this workflow, unless said otherwise.
    fn give_undo(&mut self) {
        let (Some(op), Some(mut undo)) = (self.handle.op(), self.undo.take()) else {
            return;
        };
        let defaults = self.handle.shared().defaults();
        let retry = || defaults.retry.unwrap_or_default().policy();
        undo.retry.get_or_insert_with(retry);
        undo.timeout = undo.timeout.or(defaults.timeout.map(whole_millis));
        self.handle.shared().give_undo(op, undo);
    }

    fn detach(&mut self) -> Poll<Result<RunId>> {
        let Some(called) = self.take_call() else {
            return Poll::Pending;
        };
        let called = called.and_then(|call| match call.undo {
            UndoMode::None => Ok(call),
            UndoMode::Undo | UndoMode::Internal => Err(invalid(
                "a detached child has no undo: the run never hears whether there is something to undo",
            )),
        });
        let called = called?;
        let detached = self.handle.shared().with(|execution| {
            let replay = &mut execution.replay;
            let place = replay.name(self.place())?;
            let child = everstep_machine::DetachedChild(called);
            let run = replay.call(&self.scope, &place, child, self.site);
            run.transpose()
                .map_err(|refused| Error::from_failure(refused).non_retryable())
        });
        match detached.transpose()?.flatten() {
            Some(run) => Poll::Ready(Ok(run)),
            // The run is halted: the code stops here.
            None => Poll::Pending,
        }
    }

    fn place(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.workflow)
    }

    /// What is called, the first time it is asked.
    fn take_call(&mut self) -> Option<Result<ChildCall>> {
        let input = self.input.take()?;
        Some(self.checked(input))
    }

    fn checked(&mut self, input: Result<Payload, PayloadError>) -> Result<ChildCall> {
        let workflow = Name::new(&self.workflow)?;
        let id = self.id.take().map(RunId::new).transpose()?;
        if id.as_ref() == Some(&self.handle.shared().parts().run) {
            return Err(invalid("a run cannot be its own child"));
        }
        let tags = std::mem::take(&mut self.tags);
        if tags.len() > limits::TAGS_MAX {
            return Err(invalid("a child has too many tags"));
        }
        Ok(ChildCall {
            workflow,
            id,
            input: input?,
            tags,
            timeout: self.timeout,
            on_close: self.on_close,
            undo: self.undo.mode()?,
        })
    }
}

impl<T: DeserializeOwned> Future for Child<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.call.poll(context);
        polled.map(|end| {
            // The machine gives up only on a child with a deadline.
            self.output(end?)?.ok_or_else(|| {
                Error::fatal(format!(
                    "child `{}` ended without an outcome",
                    self.call.workflow
                ))
            })
        })
    }
}

impl<T: DeserializeOwned> Future for ChildWithin<T> {
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let child = &mut self.0;
        let polled = child.call.poll(context);
        polled.map(|end| child.output(end?))
    }
}

impl Future for DetachedChild {
    type Output = Result<RunId>;

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.detach()
    }
}

impl<T> std::fmt::Debug for Child<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Child({})", self.call.workflow)
    }
}

impl<T> std::fmt::Debug for ChildWithin<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChildWithin({})", self.0.call.workflow)
    }
}

impl std::fmt::Debug for DetachedChild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DetachedChild({})", self.0.workflow)
    }
}
