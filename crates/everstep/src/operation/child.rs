//! Children: runs that the code starts and may wait for.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, ChildCall, ChildEnd, DetachedChild, Resolution};
use everstep_model::record::{ChildOutcome, ParentClose};
use everstep_model::{Name, Payload, PayloadError, RunId, limits};
use serde::de::DeserializeOwned;

use super::forms::{Detached, Optional, Required};
use super::handle::{Handle, unexpected};
use super::undo::{UndoSetup, undo_options};
use crate::ctx::Ctx;
use crate::error::{ChildFailure, Error, Result, decode};
use crate::options::{Retry, invalid, whole_millis};
use crate::workflow::Workflow;

impl<W> Ctx<W> {
    /// Starts another run and waits for its end. Replays find the same child again.
    #[track_caller]
    pub fn child<C: Workflow>(&self, input: &C::Input) -> Child<C::Output> {
        let input = Payload::from_value(input);
        Child::new(self, C::NAME, input, CallSite::caller())
    }

    /// Starts a run of a workflow by name and waits for its end, with input and result as JSON.
    #[track_caller]
    pub fn child_by_name(&self, workflow: &str, input: Payload) -> Child<Payload> {
        Child::new(self, workflow, Ok(input), CallSite::caller())
    }
}

/// A child. Its output is the result of the child; if the child fails, the error has the code
/// `child_failed` and the child's own failure as its cause. `Form` selects the output:
/// [`Required`], [`Optional`] or [`Detached`].
#[must_use = "a child is not started until it is awaited"]
pub struct Child<T, Form = Required> {
    handle: Handle,
    workflow: String,
    name: Option<String>,
    id: Option<String>,
    input: Option<Result<Payload, PayloadError>>,
    tags: Vec<String>,
    timeout: Option<Duration>,
    on_close: ParentClose,
    undo: UndoSetup,
    output: PhantomData<fn() -> (T, Form)>,
}

impl<T> Child<T> {
    fn new<W>(
        ctx: &Ctx<W>,
        workflow: &str,
        input: Result<Payload, PayloadError>,
        site: CallSite,
    ) -> Self {
        Self {
            handle: Handle::new(ctx, site),
            workflow: workflow.to_owned(),
            name: None,
            id: None,
            input: Some(input),
            tags: Vec::new(),
            timeout: None,
            on_close: ParentClose::default(),
            undo: UndoSetup::default(),
            output: PhantomData,
        }
    }

    /// Sets the id of the child. An existing run of the same workflow with this id is awaited and
    /// left unchanged; a run of another workflow is an error. The default follows from the parent
    /// and the location, so no crash starts a child twice.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the name of the child's location. The default is the name of its workflow, so it is
    /// counted together with other children of that workflow.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a tag for lists and filters.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Sets what happens to the child when the code stops waiting for it: when this run ends first
    /// or is cancelled, when the timeout passes, when the operation is dropped. The default is to
    /// cancel it.
    pub fn on_parent_close(mut self, on_close: ParentClose) -> Self {
        self.on_close = on_close;
        self
    }

    /// Stops waiting after this time. The deadline is fixed by the first call and survives
    /// restarts.
    pub fn timeout(mut self, timeout: Duration) -> Child<T, Optional> {
        self.timeout = Some(whole_millis(timeout));
        self.into_form()
    }

    undo_options! {
        "a step of this workflow",
        /// Sets the undo of the child, which runs when this run rolls back after the child has
        /// completed. A child that failed or was cancelled has undone its own steps. The undo
        /// receives the result of the child and owns what it captures.
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
        undo,
        /// Sets the undo of the child. It receives an [`Undo`](super::Undo): the result of the
        /// child, its run, and why this run rolls back.
        undo_with
    }

    /// Starts the child without waiting for it. The output is its id.
    pub fn detach(self) -> Child<T, Detached> {
        self.into_form()
    }

    fn into_form<Form>(self) -> Child<T, Form> {
        Child {
            handle: self.handle,
            workflow: self.workflow,
            name: self.name,
            id: self.id,
            input: self.input,
            tags: self.tags,
            timeout: self.timeout,
            on_close: self.on_close,
            undo: self.undo,
            output: PhantomData,
        }
    }
}

impl<T, Form> Child<T, Form> {
    /// Returns the call on the first poll.
    fn take_call(&mut self) -> Option<Result<ChildCall>> {
        let input = self.input.take()?;
        Some(self.checked(input))
    }

    fn checked(&mut self, input: Result<Payload, PayloadError>) -> Result<ChildCall> {
        let workflow = Name::new(&self.workflow)?;
        let id = self.id.take().map(RunId::new).transpose()?;
        if id.as_ref() == Some(&self.handle.shared().parts.run) {
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

    /// Registers the undo. Its retry policy and timeout are those of this workflow's steps, unless
    /// set.
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
}

impl<T: DeserializeOwned, Form> Child<T, Form> {
    /// Returns `None` if the code stopped waiting for the child.
    fn poll_output(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<T>>> {
        let call = self.take_call();
        let is_new = call.is_some();
        let name = self.name.as_deref().unwrap_or(&self.workflow);
        let resolved = self.handle.poll_with(context, |replay, scope, site| {
            let (name, call) = (replay.name(name)?, call.transpose()?);
            Ok(call.and_then(|call| replay.call(scope, &name, call, site)))
        });
        if is_new {
            self.give_undo();
        }
        resolved.map(|resolution| match resolution? {
            Resolution::Child(end) => self.output(*end),
            other => Err(unexpected(&format!("child `{}`", self.workflow), &other)),
        })
    }

    fn output(&self, end: ChildEnd) -> Result<Option<T>> {
        let workflow = &self.workflow;
        let (error, cancelled) = match end.outcome {
            None => return Ok(None),
            Some(ChildOutcome::Completed(result)) => {
                let describe = || format!("the result of child `{workflow}`");
                return decode(&result, describe).map(Some);
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

impl<T: DeserializeOwned> Future for Child<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_output(context).map(|output| {
            // The machine gives up only on a child with a deadline.
            let workflow = &self.workflow;
            let ended = || Error::fatal(format!("child `{workflow}` ended without an outcome"));
            output?.ok_or_else(ended)
        })
    }
}

impl<T: DeserializeOwned> Future for Child<T, Optional> {
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_output(context)
    }
}

impl<T> Future for Child<T, Detached> {
    type Output = Result<RunId>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(call) = self.take_call().transpose()? else {
            return Poll::Pending;
        };
        if !call.undo.is_none() {
            return Poll::Ready(Err(invalid(
                "a detached child has no undo: its outcome is unknown to the run",
            )));
        }
        let mut started = None;
        let name = self.name.clone().unwrap_or_else(|| self.workflow.clone());
        let polled = self.handle.poll_with(context, |replay, scope, site| {
            let name = replay.name(&name)?;
            started = replay.call(scope, &name, DetachedChild(call), site);
            Ok(None)
        });
        if let Poll::Ready(Err(error)) = polled {
            return Poll::Ready(Err(error));
        }
        match started {
            Some(Ok(run)) => Poll::Ready(Ok(run)),
            Some(Err(refused)) => Poll::Ready(Err(Error::from_failure(refused).non_retryable())),
            // The run is halted: the code stops here.
            None => Poll::Pending,
        }
    }
}
debug_by_name!(impl<T, Form> Child<T, Form>: workflow);
