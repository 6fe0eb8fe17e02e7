//! Further forms of waiting for events: any of several, several at once, only if one is there; and answering one.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, EventTaken, Written};
use everstep_model::{ErrorCode, Failure, Payload};

use super::event::{Received, Wait, decode};
use crate::ctx::Ctx;
use crate::declaration::{Accepts, Event, EventSet, Request};
use crate::error::{Error, Result};
use crate::options::whole_millis;

impl<W> Ctx<W> {
    /// Waits for whichever of several events comes first; of those that came early, the oldest.
    ///
    /// ```
    /// # use everstep::{Ctx, Event, Result};
    /// # use everstep::operation::OneOf2;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approved { by: String }
    /// # impl Event for Approved { const NAME: &'static str = "approved"; }
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Withdrawn;
    /// # impl Event for Withdrawn { const NAME: &'static str = "withdrawn"; }
    /// async fn decide(ctx: Ctx) -> Result<String> {
    ///     Ok(match ctx.any_event::<(Approved, Withdrawn)>().await? {
    ///         OneOf2::A(approved) => format!("approved by {}", approved.by),
    ///         OneOf2::B(Withdrawn) => "withdrawn".to_owned(),
    ///     })
    /// }
    /// ```
    #[track_caller]
    pub fn any_event<S: EventSet<W>>(&self) -> AnyEventWait<S, W> {
        let site = CallSite::caller();
        AnyEventWait {
            wait: Wait::new(self, S::NAMES, site),
            set: PhantomData,
        }
    }

    /// Waits until at least one event is there and takes up to `max` of them, in the order they came.
    #[track_caller]
    pub fn events<E: Event>(&self, max: u32) -> EventBatch<E>
    where
        W: Accepts<E>,
    {
        let mut wait = Wait::new(self, &[E::NAME], CallSite::caller());
        wait.batch = max.max(1);
        EventBatch {
            wait,
            event: PhantomData,
        }
    }

    /// Takes an event if one is there, without waiting.
    #[track_caller]
    pub fn try_event<E: Event>(&self) -> TryEvent<E>
    where
        W: Accepts<E>,
    {
        let mut wait = Wait::new(self, &[E::NAME], CallSite::caller());
        wait.at_once = true;
        TryEvent {
            wait,
            event: PhantomData,
        }
    }

    /// Answers an event whose sender waits, as [`crate::Request`] shows. Answering one whose sender does not wait is harmless.
    ///
    /// # Errors
    /// If it was answered before, or the answer cannot be written as JSON.
    #[track_caller]
    pub fn reply<E: Request>(&self, received: &Received<E>, answer: &E::Reply) -> Result<()> {
        let payload = Payload::from_value(answer)?;
        let site = CallSite::caller();
        let is_first = self.shared().with(|execution| {
            let replay = &mut execution.replay;
            let event = received.record;
            replay.write(self.scope(), Written::Reply { event, payload }, site)
        });
        if is_first.unwrap_or(true) {
            return Ok(());
        }
        let message = format!("event `{}` was answered before", E::NAME);
        let failure = Failure::new(ErrorCode::RepliedAlready, message);
        Err(Error::from_failure(failure).non_retryable())
    }
}

/// A wait for whichever of several events comes first.
#[must_use = "a wait does nothing until it is awaited"]
pub struct AnyEventWait<S, W> {
    wait: Wait,
    set: PhantomData<fn() -> (S, W)>,
}

/// A wait for whichever of several events comes first, which gives up.
#[must_use = "a wait does nothing until it is awaited"]
pub struct AnyEventWithin<S, W>(AnyEventWait<S, W>);

impl<S: EventSet<W>, W> AnyEventWait<S, W> {
    /// A stable place for this wait.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.wait.id = Some(id.into());
        self
    }

    /// Gives up after this long: `None`.
    pub fn timeout(mut self, timeout: Duration) -> AnyEventWithin<S, W> {
        self.wait.timeout = Some(whole_millis(timeout));
        AnyEventWithin(self)
    }

    fn poll_taken(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<S::Taken>>> {
        let read = |taken: EventTaken| {
            S::read(taken.name.as_str(), &taken.payload).map_err(|error| {
                let message = format!("event `{}` does not fit its type: {error}", taken.name);
                Error::from_failure(Failure::new(ErrorCode::Undecodable, message)).non_retryable()
            })
        };
        self.wait
            .poll(context)
            .map(|taken| taken?.map(read).transpose())
    }
}

impl<S: EventSet<W>, W> Future for AnyEventWait<S, W> {
    type Output = Result<S::Taken>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = || Error::fatal("a wait for several events ended without one");
        self.poll_taken(context)
            .map(|taken| taken?.ok_or_else(ended))
    }
}

impl<S: EventSet<W>, W> Future for AnyEventWithin<S, W> {
    type Output = Result<Option<S::Taken>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_taken(context)
    }
}

/// A wait for several events at once.
#[must_use = "a wait does nothing until it is awaited"]
pub struct EventBatch<E> {
    wait: Wait,
    event: PhantomData<fn() -> E>,
}

impl<E: Event> EventBatch<E> {
    /// A stable place for this wait.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.wait.id = Some(id.into());
        self
    }

    /// Gives up after this long, with no events.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.wait.timeout = Some(whole_millis(timeout));
        self
    }
}

impl<E: Event> Future for EventBatch<E> {
    type Output = Result<Vec<E>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait
            .poll_all(context)
            .map(|taken| taken?.iter().map(decode).collect())
    }
}

/// A look for an event that may be there.
#[must_use = "a wait does nothing until it is awaited"]
pub struct TryEvent<E> {
    wait: Wait,
    event: PhantomData<fn() -> E>,
}

impl<E: Event> Future for TryEvent<E> {
    type Output = Result<Option<E>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait
            .poll(context)
            .map(|taken| taken?.as_ref().map(decode).transpose())
    }
}

impl<S: EventSet<W>, W> std::fmt::Debug for AnyEventWait<S, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyEventWait({})", S::NAMES.join(", "))
    }
}

impl<S: EventSet<W>, W> std::fmt::Debug for AnyEventWithin<S, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyEventWithin({})", S::NAMES.join(", "))
    }
}

impl<E: Event> std::fmt::Debug for EventBatch<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventBatch({})", E::NAME)
    }
}

impl<E: Event> std::fmt::Debug for TryEvent<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TryEvent({})", E::NAME)
    }
}
