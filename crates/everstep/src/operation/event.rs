//! Waiting for events.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, EventTaken, Resolution, WaitCall};
use everstep_model::{ErrorCode, Failure, RecordNumber, Scope, Timestamp};

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::declaration::{Accepts, Event};
use crate::error::{Error, Result};
use crate::options::whole_millis;

impl<W> Ctx<W> {
    /// Waits for an event. Events that came early are kept, and consumed in the order they came.
    ///
    /// ```
    /// # use everstep::{Accepts, Ctx, Event, Handle, Result, Workflow};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Refund;
    /// # impl Event for Refund { const NAME: &'static str = "refund"; }
    /// struct Payment;
    /// impl Accepts<Approval> for Payment {}
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    ///
    /// async fn approved(ctx: Ctx<Payment>) -> Result<Approval> {
    ///     ctx.event::<Approval>().await
    /// }
    /// ```
    ///
    /// An event that the workflow does not accept does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use everstep::{Accepts, Ctx, Event, Handle, Result, Workflow};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Refund;
    /// # impl Event for Refund { const NAME: &'static str = "refund"; }
    /// struct Payment;
    /// impl Accepts<Approval> for Payment {}
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    ///
    /// async fn refunded(ctx: Ctx<Payment>) -> Result<Refund> {
    ///     ctx.event::<Refund>().await
    /// }
    /// ```
    #[track_caller]
    pub fn event<E: Event>(&self) -> EventWait<E>
    where
        W: Accepts<E>,
    {
        EventWait {
            wait: Wait::new(self, &[E::NAME], CallSite::caller()),
            event: PhantomData,
        }
    }
}

/// A wait for an event, for as long as it takes.
#[must_use = "a wait does nothing until it is awaited"]
pub struct EventWait<E> {
    wait: Wait,
    event: PhantomData<fn() -> E>,
}

/// A wait for an event that gives up: `None` when none came in time, the same on every replay.
#[must_use = "a wait does nothing until it is awaited"]
pub struct EventWithin<E> {
    wait: Wait,
    event: PhantomData<fn() -> E>,
}

/// An event with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<E> {
    /// The event.
    pub event: E,
    /// When it was sent, as its record says: the same on every replay.
    pub sent_at: Timestamp,
    /// Its record in the run's journal.
    pub record: RecordNumber,
}

/// A wait for an event that also tells when it was sent.
#[must_use = "a wait does nothing until it is awaited"]
pub struct EventReceived<E>(EventWait<E>);

pub(super) struct Wait {
    pub(super) handle: Handle,
    pub(super) scope: Scope,
    /// Takes an event of any of these names.
    pub(super) events: &'static [&'static str],
    /// At most so many at once.
    pub(super) batch: u32,
    /// Whether it gives up at once if none is there.
    pub(super) at_once: bool,
    pub(super) id: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) site: CallSite,
}

impl<E: Event> EventWait<E> {
    /// A stable place for this wait, independent of how often the event is awaited elsewhere.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.wait.id = Some(id.into());
        self
    }

    /// Also tells when the event was sent, and which record it is.
    pub fn received(self) -> EventReceived<E> {
        EventReceived(self)
    }

    /// Gives up after this long. The deadline is fixed by the first call and survives restarts.
    pub fn timeout(mut self, timeout: Duration) -> EventWithin<E> {
        self.wait.timeout = Some(whole_millis(timeout));
        EventWithin {
            wait: self.wait,
            event: PhantomData,
        }
    }
}

impl<E: Event> EventWithin<E> {
    /// A stable place for this wait.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.wait.id = Some(id.into());
        self
    }

    /// Fails if none came in time.
    pub async fn or_error(self) -> Result<E> {
        let event = E::NAME;
        self.await?.ok_or_else(|| {
            let message = format!("event `{event}` did not come in time");
            Error::from_failure(Failure::new(ErrorCode::EventTimedOut, message)).non_retryable()
        })
    }

    /// Takes `default` if none came in time.
    pub async fn or(self, default: E) -> Result<E> {
        Ok(self.await?.unwrap_or(default))
    }
}

impl Wait {
    pub(super) fn new<W>(ctx: &Ctx<W>, events: &'static [&'static str], site: CallSite) -> Self {
        Self {
            handle: Handle::new(ctx.shared().clone()),
            scope: ctx.scope().clone(),
            events,
            batch: 1,
            at_once: false,
            id: None,
            timeout: None,
            site,
        }
    }

    /// The place of the wait, unless it has one of its own: the names it waits for.
    fn place(&self) -> String {
        match &self.id {
            Some(id) => id.clone(),
            None => self.events.join("|"),
        }
    }

    pub(super) fn poll_all(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<EventTaken>>> {
        let place = match self.handle.op() {
            Some(_) => String::new(),
            None => self.place(),
        };
        let (scope, events, timeout, site) = (&self.scope, self.events, self.timeout, self.site);
        let (batch, at_once) = (self.batch, self.at_once);
        let resolved = self.handle.poll(context, |replay| {
            let place = replay.name(&place)?;
            let names = events
                .iter()
                .map(|event| replay.name(event))
                .collect::<Result<_, _>>()?;
            let wait = WaitCall {
                names,
                batch,
                at_once,
                timeout,
            };
            Ok(replay.call(scope, &place, wait, site))
        });
        resolved.map(|resolution| match resolution? {
            Resolution::Events(taken) => Ok(taken),
            other => Err(Error::fatal(format!("a wait was resolved by {other:?}"))),
        })
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<EventTaken>>> {
        self.poll_all(context)
            .map(|taken| Ok(taken?.into_iter().next()))
    }
}

pub(super) fn decode<E: Event>(taken: &EventTaken) -> Result<E> {
    taken.payload.decode().map_err(|error| {
        let message = format!("event `{}` does not fit its type: {error}", taken.name);
        Error::from_failure(Failure::new(ErrorCode::Undecodable, message)).non_retryable()
    })
}

impl<E: Event> EventWait<E> {
    fn poll_taken(&mut self, context: &mut Context<'_>) -> Poll<Result<EventTaken>> {
        // The machine resolves a wait without a deadline only with an event.
        let ended = || {
            let event = E::NAME;
            Error::fatal(format!("the wait for event `{event}` ended without one"))
        };
        self.wait
            .poll(context)
            .map(|taken| taken?.ok_or_else(ended))
    }
}

impl<E: Event> Future for EventWait<E> {
    type Output = Result<E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_taken(context).map(|taken| decode(&taken?))
    }
}

impl<E: Event> Future for EventReceived<E> {
    type Output = Result<Received<E>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_taken(context).map(|taken| {
            let taken = taken?;
            Ok(Received {
                event: decode(&taken)?,
                sent_at: taken.time,
                record: taken.number,
            })
        })
    }
}

impl<E: Event> std::fmt::Debug for EventReceived<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventReceived({})", E::NAME)
    }
}

impl<E: Event> Future for EventWithin<E> {
    type Output = Result<Option<E>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait
            .poll(context)
            .map(|taken| taken?.as_ref().map(decode).transpose())
    }
}

impl<E: Event> std::fmt::Debug for EventWait<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventWait({})", E::NAME)
    }
}

impl<E: Event> std::fmt::Debug for EventWithin<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventWithin({})", E::NAME)
    }
}
