//! Loops: a body that is run again and again, with a durable state from one iteration to the next.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use everstep_engine::CodedError;
use everstep_machine::{
    Advance, CallSite, IterationEnd, LoopCall, OpId, Resolution, iteration_scope,
};
use everstep_model::{ErrorCode, Failure, Location, Payload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::error::{Error, Result};

impl<W> Ctx<W> {
    /// Runs a body again and again. It gets a handle of its own and a state, and either goes on with the next state or ends
    /// the loop with a result. Both are durable: a crash in iteration `k` goes on in iteration `k`.
    ///
    /// The journal keeps the last few iterations, so a loop may run for years. See [`Repeat::keep`].
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
        S: Serialize + DeserializeOwned,
        B: Serialize + DeserializeOwned,
        F: Fn(Ctx<W>, S) -> Fut,
        Fut: Future<Output = Result<ControlFlow<B, S>>>,
    {
        Repeat::new(self.clone(), name, state, body, CallSite::caller())
    }

    /// Runs a body again and again until it gives something. See [`Ctx::repeat`].
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
        B: Serialize + DeserializeOwned,
        F: Fn(Ctx<W>) -> Fut,
        Fut: Future<Output = Result<Option<B>>>,
    {
        let body = move |ctx, ()| Until::new(body(ctx));
        Repeat::new(self.clone(), name, (), body, CallSite::caller())
    }
}

/// How many ended iterations of a loop stay in the journal, unless it says otherwise.
const KEEP: u32 = 10;

/// A loop. Configure it, then await it.
#[must_use = "a loop does nothing until it is awaited"]
pub struct Repeat<W, S, F, Fut> {
    ctx: Ctx<W>,
    name: String,
    keep: u32,
    body: F,
    /// What the first iteration begins with.
    initial: Option<S>,
    stage: Stage<Fut>,
    site: CallSite,
}

/// Where a loop stands.
enum Stage<Fut> {
    /// Not polled yet.
    New,
    /// The next iteration begins when this resolves.
    Waiting(Location, OpId, Handle),
    /// An iteration is under way.
    Running(Location, u64, Pin<Box<Fut>>),
    /// Over, or halted by the machine.
    Over,
}

// The body is boxed before it is polled, so nothing in a loop is ever pinned in place.
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

    /// How many ended iterations stay in the journal, besides the one under way; 10 unless given. Older ones are dropped
    /// from it, up to so many at a time, unless one of their steps may still have to be undone.
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
        let called = self.ctx.shared().with(|execution| {
            let replay = &mut execution.replay;
            let name = replay.name(&self.name)?;
            Ok::<_, Error>(replay.call(self.ctx.scope(), &name, LoopCall, self.site))
        });
        match called.transpose()?.flatten() {
            Some((place, advance)) => self.go_on(place, advance).map(drop),
            None => Ok(()),
        }
    }

    /// Goes on as the machine says; the result, if the loop is over.
    fn go_on(&mut self, place: Location, advance: Advance) -> Result<Option<B>> {
        match advance {
            Advance::Iteration(iteration, state) => {
                self.enter(place, iteration, state)?;
                Ok(None)
            }
            Advance::Wait(op) => {
                let handle = Handle::new(self.ctx.shared().clone());
                self.stage = Stage::Waiting(place, op, handle);
                Ok(None)
            }
            Advance::Done(result) => self.decode("result", &result).map(Some),
        }
    }

    fn enter(&mut self, place: Location, iteration: u64, state: Option<Payload>) -> Result<()> {
        let state = match (state, self.initial.take()) {
            (Some(state), _) => self.decode("state", &state)?,
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

    /// An iteration returned.
    fn advance(
        &mut self,
        place: Location,
        iteration: u64,
        flow: ControlFlow<B, S>,
    ) -> Result<Option<B>> {
        let (done, value) = match &flow {
            ControlFlow::Continue(state) => (false, self.encode("state", state)?),
            ControlFlow::Break(result) => (true, self.encode("result", result)?),
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
            Some(advance) => self.go_on(place, advance),
            None => Ok(None),
        }
    }

    fn encode<T: Serialize>(&self, what: &str, value: &T) -> Result<Payload> {
        Payload::from_value(value).map_err(|error| {
            let name = &self.name;
            let message = format!("the {what} of loop `{name}` cannot be recorded: {error}");
            let failure = Failure::new(error.code(), message);
            Error::from_failure(failure).non_retryable()
        })
    }

    fn decode<T: DeserializeOwned>(&self, what: &str, payload: &Payload) -> Result<T> {
        payload.decode().map_err(|error| {
            let name = &self.name;
            let message =
                format!("the recorded {what} of loop `{name}` does not fit its type: {error}");
            let failure = Failure::new(ErrorCode::Undecodable, message);
            Error::from_failure(failure).non_retryable()
        })
    }

    /// One move of the loop; the result, if that was the last.
    fn step(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<B>>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::New => Poll::Ready(self.begin().map(|()| None)),
            Stage::Waiting(place, op, mut handle) => {
                let Poll::Ready(resolved) = handle.poll(context, |_| Ok(Some(op))) else {
                    self.stage = Stage::Waiting(place, op, handle);
                    return Poll::Pending;
                };
                Poll::Ready(match resolved? {
                    Resolution::Iteration(iteration, state) => {
                        self.enter(place, iteration, Some(state)).map(|()| None)
                    }
                    other => {
                        let name = &self.name;
                        Err(Error::fatal(format!(
                            "loop `{name}` was resolved by {other:?}"
                        )))
                    }
                })
            }
            Stage::Running(place, iteration, mut body) => {
                let Poll::Ready(returned) = body.as_mut().poll(context) else {
                    self.stage = Stage::Running(place, iteration, body);
                    return Poll::Pending;
                };
                // What the body left open is dropped, and said to be, before the loop goes on.
                drop(body);
                Poll::Ready(returned.and_then(|flow| self.advance(place, iteration, flow)))
            }
            Stage::Over => Poll::Pending,
        }
    }
}

impl<W, S, B, F, Fut> Future for Repeat<W, S, F, Fut>
where
    S: Serialize + DeserializeOwned,
    B: Serialize + DeserializeOwned,
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

impl<W, S, F, Fut> std::fmt::Debug for Repeat<W, S, F, Fut> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Repeat({})", self.name)
    }
}

/// The body of a loop without state: nothing means that it goes on.
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
