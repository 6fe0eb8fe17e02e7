//! Loops with a durable state.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use everstep_machine::{
    Advance, CallSite, IterationEnd, LoopCall, OpId, Resolution, iteration_scope,
};
use everstep_model::{Location, Payload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handle::{Handle, unexpected};
use super::recorded::Recorded;
use crate::ctx::Ctx;
use crate::error::{Error, Result, decode, encode};

impl<W> Ctx<W> {
    /// Repeats a body. The body receives its own handle and the state, and either continues with
    /// the next state or ends the loop with a result. Both are durable: after a crash in iteration
    /// `k` the loop continues in iteration `k`.
    ///
    /// The journal keeps only the last iterations, so a loop may run for years. See
    /// [`Repeat::keep`]. A loop that never breaks names the type of its result; see [`Recorded`].
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use everstep::{Ctx, Error, Result};
    /// async fn import(ctx: Ctx, rows: u64) -> Result<u64> {
    ///     ctx.repeat("import", 0, |ctx, from: u64| async move {
    ///         let to = ctx.step("batch", || async { Ok::<_, Error>(from + 1_000) }).await?;
    ///         if to >= rows {
    ///             return Ok(ControlFlow::Break(to));
    ///         }
    ///         Ok(ControlFlow::Continue(to))
    ///     })
    ///     .await
    /// }
    /// ```
    #[track_caller]
    pub fn repeat<S, B, F, Fut>(&self, name: &str, state: S, body: F) -> Repeat<W, S, F, Fut>
    where
        S: Recorded,
        B: Recorded,
        F: Fn(Ctx<W>, S) -> Fut,
        Fut: Future<Output = Result<ControlFlow<B, S>>>,
    {
        Repeat::new(self.clone(), name, state, body, CallSite::caller())
    }

    /// Repeats a body until it returns a value. See [`Ctx::repeat`].
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result, minutes};
    /// async fn poll(ctx: Ctx) -> Result<String> {
    ///     ctx.repeat_until("poll", |ctx| async move {
    ///         let found = ctx.step("look", || async { Ok::<_, Error>(None::<String>) }).await?;
    ///         if found.is_none() {
    ///             ctx.sleep("pause", minutes(5)).await?;
    ///         }
    ///         Ok(found)
    ///     })
    ///     .await
    /// }
    /// ```
    #[track_caller]
    #[allow(clippy::type_complexity, reason = "the type of a closure has no name")]
    pub fn repeat_until<B, F, Fut>(
        &self,
        name: &str,
        body: F,
    ) -> Repeat<W, (), impl Fn(Ctx<W>, ()) -> Until<Fut> + use<B, F, Fut, W>, Until<Fut>>
    where
        B: Recorded,
        F: Fn(Ctx<W>) -> Fut,
        Fut: Future<Output = Result<Option<B>>>,
    {
        let body = move |ctx, ()| Until::new(body(ctx));
        Repeat::new(self.clone(), name, (), body, CallSite::caller())
    }
}

/// Default of [`Repeat::keep`].
const KEEP: u32 = 10;

/// A loop. Configure it, then await it.
#[must_use = "a loop does nothing until it is awaited"]
pub struct Repeat<W, S, F, Fut> {
    ctx: Ctx<W>,
    name: String,
    keep: u32,
    body: F,
    /// The state of the first iteration.
    initial: Option<S>,
    stage: Stage<Fut>,
    site: CallSite,
}

enum Stage<Fut> {
    /// Not polled yet.
    New,
    /// The next iteration starts when this resolves.
    Waiting(Location, OpId, Handle),
    /// An iteration is running.
    Running(Location, u64, Pin<Box<Fut>>),
    /// Ended, or halted by the machine.
    Over,
}

// The body is boxed.
impl<W, S, F, Fut> Unpin for Repeat<W, S, F, Fut> {}

impl<W, S, F, Fut> Repeat<W, S, F, Fut> {
    pub(crate) fn new(ctx: Ctx<W>, name: &str, state: S, body: F, site: CallSite) -> Self {
        Self {
            ctx,
            name: name.to_owned(),
            keep: KEEP,
            body,
            initial: Some(state),
            stage: Stage::New,
            site,
        }
    }

    /// Sets how many ended iterations stay in the journal. The default is 10. Older ones are
    /// dropped, up to this number at a time, unless one of their steps may still have to be undone.
    pub fn keep(mut self, iterations: u32) -> Self {
        self.keep = iterations;
        self
    }
}

impl<W, S, B, F, Fut> Repeat<W, S, F, Fut>
where
    S: Serialize + DeserializeOwned,
    B: Serialize + DeserializeOwned,
    F: Fn(Ctx<W>, S) -> Fut,
    Fut: Future<Output = Result<ControlFlow<B, S>>>,
{
    fn begin(&mut self) -> Result<()> {
        let called = self
            .ctx
            .call_now(&self.name, self.site, |_, _| Ok(LoopCall))?;
        match called {
            Some((place, advance)) => self.apply(place, advance).map(drop),
            None => Ok(()),
        }
    }

    /// Performs the machine's decision. Returns the result if the loop has ended.
    fn apply(&mut self, place: Location, advance: Advance) -> Result<Option<B>> {
        match advance {
            Advance::Iteration(iteration, state) => {
                self.enter(place, iteration, state)?;
                Ok(None)
            }
            Advance::Wait(op) => {
                let handle = Handle::new(&self.ctx, self.site);
                self.stage = Stage::Waiting(place, op, handle);
                Ok(None)
            }
            Advance::Done(result) => decode(&result, || self.recorded("result")).map(Some),
        }
    }

    fn enter(&mut self, place: Location, iteration: u64, state: Option<Payload>) -> Result<()> {
        let state = match (state, self.initial.take()) {
            (Some(state), _) => decode(&state, || self.recorded("state"))?,
            (None, Some(initial)) => initial,
            (None, None) => {
                let name = &self.name;
                return Err(Error::fatal(format!("loop `{name}` lost its first state")));
            }
        };
        let ctx = self.ctx.in_scope(iteration_scope(&place, iteration));
        let running = Box::pin((self.body)(ctx, state));
        self.stage = Stage::Running(place, iteration, running);
        Ok(())
    }

    /// Ends an iteration.
    fn advance(
        &mut self,
        place: Location,
        iteration: u64,
        flow: ControlFlow<B, S>,
    ) -> Result<Option<B>> {
        let (done, value) = match &flow {
            ControlFlow::Continue(state) => (false, encode(state, || self.describe("state"))?),
            ControlFlow::Break(result) => (true, encode(result, || self.describe("result"))?),
        };
        let end = IterationEnd {
            location: &place,
            iteration,
            done,
            keep: u64::from(self.keep),
        };
        let advance = self
            .ctx
            .shared()
            .with(|execution| execution.replay.advance_loop(end, value, self.site));
        match advance.flatten() {
            Some(advance) => self.apply(place, advance),
            None => Ok(None),
        }
    }

    fn describe(&self, what: &str) -> String {
        format!("the {what} of loop `{}`", self.name)
    }

    fn recorded(&self, what: &str) -> String {
        format!("the recorded {what} of loop `{}`", self.name)
    }

    /// Advances the loop. Returns the result if it has ended.
    fn step(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<B>>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::New => Poll::Ready(self.begin().map(|()| None)),
            Stage::Waiting(place, op, mut handle) => {
                let polled = handle.poll_with(context, |_, _, _| Ok(Some(op)));
                let Poll::Ready(resolved) = polled else {
                    self.stage = Stage::Waiting(place, op, handle);
                    return Poll::Pending;
                };
                Poll::Ready(match resolved? {
                    Resolution::Iteration(iteration, state) => {
                        self.enter(place, iteration, Some(state)).map(|()| None)
                    }
                    other => Err(unexpected(&format!("loop `{}`", self.name), &other)),
                })
            }
            Stage::Running(place, iteration, mut body) => {
                let Poll::Ready(returned) = body.as_mut().poll(context) else {
                    self.stage = Stage::Running(place, iteration, body);
                    return Poll::Pending;
                };
                // Operations that the body left open are dropped before the loop continues.
                drop(body);
                Poll::Ready(returned.and_then(|flow| self.advance(place, iteration, flow)))
            }
            Stage::Over => Poll::Pending,
        }
    }
}

impl<W, S, B, F, Fut> Future for Repeat<W, S, F, Fut>
where
    S: Recorded,
    B: Recorded,
    F: Fn(Ctx<W>, S) -> Fut,
    Fut: Future<Output = Result<ControlFlow<B, S>>>,
{
    type Output = Result<B>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            if let Some(result) = ready!(self.step(context))? {
                return Poll::Ready(Ok(result));
            }
        }
    }
}
debug_by_name!(impl<W, S, F, Fut> Repeat<W, S, F, Fut>: name);

/// The body of a loop without state. `None` continues the loop.
#[must_use = "futures do nothing unless polled"]
pub struct Until<Fut>(Pin<Box<Fut>>);

impl<Fut> Until<Fut> {
    pub(crate) fn new(body: Fut) -> Self {
        Self(Box::pin(body))
    }
}

impl<Fut, B> Future for Until<Fut>
where
    Fut: Future<Output = Result<Option<B>>>,
{
    type Output = Result<ControlFlow<B, ()>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let found = ready!(self.0.as_mut().poll(context))?;
        Poll::Ready(Ok(match found {
            Some(result) => ControlFlow::Break(result),
            None => ControlFlow::Continue(()),
        }))
    }
}

impl<Fut> std::fmt::Debug for Until<Fut> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Until")
    }
}
