//! Waits for events, and replies to them.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, EventTaken, Resolution, WaitCall, Written};
use everstep_model::{ErrorCode, Payload, RecordNumber, Timestamp};

use super::forms::{Batch, Optional, Required};
use super::handle::{Handle, unexpected};
use crate::ctx::Ctx;
use crate::declaration::{Accepts, AcceptsAny, Event, EventSet, Request};
use crate::error::{Error, Result, decode, undecodable};
use crate::options::whole_millis;

impl<W> Ctx<W> {
    /// Waits for an event. Events that arrive early are kept, and consumed in the order of their
    /// arrival. An event that the workflow does not accept does not compile; see [`Accepts`].
    #[track_caller]
    pub fn event<E: Event>(&self) -> EventWait<E>
    where
        W: Accepts<E>,
    {
        EventWait::new(
            self,
            Names::Typed(&[E::NAME]),
            decode_event,
            CallSite::caller(),
        )
    }

    /// Waits for the first of several events; of those that arrived early, for the oldest.
    ///
    /// ```
    /// # use everstep::{Ctx, Event, Result, interface};
    /// # use everstep::operation::OneOf2;
    /// # use everstep::schemars::{self, JsonSchema};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Approved { by: String }
    /// # impl Event for Approved { const NAME: &'static str = "approved"; }
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Withdrawn;
    /// # impl Event for Withdrawn { const NAME: &'static str = "withdrawn"; }
    /// interface!(Decisions { events: Approved, Withdrawn; });
    ///
    /// async fn decide(ctx: Ctx<Decisions>) -> Result<String> {
    ///     Ok(match ctx.any_event::<(Approved, Withdrawn)>().await? {
    ///         OneOf2::A(approved) => format!("approved by {}", approved.by),
    ///         OneOf2::B(Withdrawn) => "withdrawn".to_owned(),
    ///     })
    /// }
    /// ```
    ///
    /// An [`interface!`](crate::interface) is a set of any number of events, with a named variant
    /// for each: `ctx.any_event::<Decisions>()`.
    #[track_caller]
    pub fn any_event<S: EventSet<W>>(&self) -> EventWait<S::Taken> {
        let decode = |taken: &EventTaken| {
            let event = S::decode(taken.name.as_str(), &taken.payload);
            let event = event.ok_or_else(|| unexpected_event(taken))?;
            event.map_err(|error| undecodable(&describe(taken), &error))
        };
        EventWait::new(self, Names::Typed(S::NAMES), decode, CallSite::caller())
    }

    /// Waits for an event whose name is known only at run time. Only a workflow that accepts every
    /// event can do that: its interface is [`AnyEvent`](crate::AnyEvent).
    #[track_caller]
    pub fn event_by_name(&self, name: impl Into<String>) -> EventWait<Payload>
    where
        W: AcceptsAny,
    {
        let names = Names::Given(vec![name.into()]);
        EventWait::new(
            self,
            names,
            |taken| Ok(taken.payload.clone()),
            CallSite::caller(),
        )
    }

    /// Waits for the first of several events whose names are known only at run time. The output is
    /// its name and payload.
    #[track_caller]
    pub fn any_event_by_name<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> EventWait<(String, Payload)>
    where
        W: AcceptsAny,
    {
        let names = Names::Given(names.into_iter().map(Into::into).collect());
        let named = |taken: &EventTaken| Ok((taken.name.to_string(), taken.payload.clone()));
        EventWait::new(self, names, named, CallSite::caller())
    }

    /// Waits until at least one event has arrived and takes up to `max` of them, in the order of
    /// their arrival.
    #[track_caller]
    pub fn events<E: Event>(&self, max: u32) -> EventWait<E, Batch>
    where
        W: Accepts<E>,
    {
        let mut batch = EventWait::new(
            self,
            Names::Typed(&[E::NAME]),
            decode_event,
            CallSite::caller(),
        );
        batch.wait.batch = max.max(1);
        batch
    }

    /// Takes an event if one has arrived, without waiting.
    #[track_caller]
    pub fn try_event<E: Event>(&self) -> EventWait<E, Optional>
    where
        W: Accepts<E>,
    {
        let mut attempt = EventWait::new(
            self,
            Names::Typed(&[E::NAME]),
            decode_event,
            CallSite::caller(),
        );
        attempt.wait.at_once = true;
        attempt
    }

    /// Replies to an event whose sender waits, as [`Request`] shows. If the sender does not wait,
    /// this has no effect.
    ///
    /// # Errors
    /// If the event was answered before, or the reply cannot be encoded as JSON.
    #[track_caller]
    pub fn reply<E: Request>(&self, received: &Received<E>, answer: &E::Reply) -> Result<()> {
        let payload = Payload::from_value(answer)?;
        let site = CallSite::caller();
        let is_first = self.shared().with(|execution| {
            let event = received.record;
            let reply = Written::Reply { event, payload };
            execution.replay.write(self.scope(), reply, site)
        });
        if is_first.unwrap_or(true) {
            return Ok(());
        }
        let message = format!("event `{}` was answered before", E::NAME);
        Err(Error::permanent(ErrorCode::RepliedAlready, message))
    }
}

/// An event with its time and its record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Received<E> {
    pub event: E,
    /// When it was sent, according to the journal: the same on every replay.
    pub sent_at: Timestamp,
    /// Its record in the run's journal.
    pub record: RecordNumber,
}

type Decode<T> = fn(&EventTaken) -> Result<T>;

/// A wait for events. `Form` selects the output: [`Required`], [`Optional`] or [`Batch`].
#[must_use = "a wait does nothing until it is awaited"]
pub struct EventWait<T, Form = Required> {
    wait: Wait,
    decode: Decode<T>,
    form: PhantomData<fn() -> Form>,
}

/// The names of the events that a wait accepts.
enum Names {
    Typed(&'static [&'static str]),
    Given(Vec<String>),
}

impl Names {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let (typed, given): (&[&str], &[String]) = match self {
            Self::Typed(names) => (names, &[]),
            Self::Given(names) => (&[], names),
        };
        typed
            .iter()
            .copied()
            .chain(given.iter().map(String::as_str))
    }

    fn join(&self, separator: &str) -> String {
        match self {
            Self::Typed(names) => names.join(separator),
            Self::Given(names) => names.join(separator),
        }
    }
}

struct Wait {
    handle: Handle,
    events: Names,
    /// The maximum number of events.
    batch: u32,
    /// Whether to give up at once if no event has arrived.
    at_once: bool,
    id: Option<String>,
    timeout: Option<Duration>,
}

impl<T, Form> EventWait<T, Form> {
    fn new<W>(ctx: &Ctx<W>, events: Names, decode: Decode<T>, site: CallSite) -> Self {
        let wait = Wait {
            handle: Handle::new(ctx, site),
            events,
            batch: 1,
            at_once: false,
            id: None,
            timeout: None,
        };
        wait.into_form(decode)
    }

    /// Sets the name of the location of this wait. The default consists of the names of the events,
    /// so it is counted together with other waits for them.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.wait.id = Some(id.into());
        self
    }
}

impl<T> EventWait<T> {
    /// Gives up after this time. The deadline is fixed by the first call and survives restarts.
    pub fn timeout(mut self, timeout: Duration) -> EventWait<T, Optional> {
        self.wait.timeout = Some(whole_millis(timeout));
        self.wait.into_form(self.decode)
    }
}

impl<E: Event> EventWait<E> {
    /// Also returns when the event was sent, and its record.
    pub fn received(self) -> EventWait<Received<E>> {
        self.wait.into_form(|taken| {
            Ok(Received {
                event: decode_event(taken)?,
                sent_at: taken.time,
                record: taken.number,
            })
        })
    }
}

impl<T> EventWait<T, Optional> {
    /// Fails if no event arrives in time.
    pub async fn or_error(self) -> Result<T> {
        let events = self.wait.events.join("|");
        self.await?.ok_or_else(|| {
            let message = format!("event `{events}` did not come in time");
            Error::permanent(ErrorCode::EventTimedOut, message)
        })
    }

    /// Returns `default` if no event arrives in time.
    pub async fn or(self, default: T) -> Result<T> {
        Ok(self.await?.unwrap_or(default))
    }
}

impl<T> EventWait<T, Batch> {
    /// Gives up after this time, with no events.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.wait.timeout = Some(whole_millis(timeout));
        self
    }
}

impl Wait {
    fn into_form<T, Form>(self, decode: Decode<T>) -> EventWait<T, Form> {
        EventWait {
            wait: self,
            decode,
            form: PhantomData,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<EventTaken>>> {
        let name = match (self.handle.op(), &self.id) {
            (Some(_), _) => String::new(),
            (None, Some(id)) => id.clone(),
            (None, None) => self.events.join("|"),
        };
        let (batch, at_once, timeout) = (self.batch, self.at_once, self.timeout);
        let events = self.events.iter();
        let resolved = self.handle.poll(context, &name, |replay| {
            let names = events.map(|event| replay.name(event));
            Ok(WaitCall {
                names: names.collect::<Result<_, _>>()?,
                batch,
                at_once,
                timeout,
            })
        });
        resolved.map(|resolution| match resolution? {
            Resolution::Events(taken) => Ok(taken),
            other => Err(unexpected("a wait", &other)),
        })
    }
}

fn decode_event<E: Event>(taken: &EventTaken) -> Result<E> {
    decode(&taken.payload, || describe(taken))
}

fn unexpected_event(taken: &EventTaken) -> Error {
    Error::fatal(format!("the wait took {}", describe(taken)))
}

fn describe(taken: &EventTaken) -> String {
    format!("event `{}`", taken.name)
}

impl<T> Future for EventWait<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait.poll(context).map(|taken| match taken?.first() {
            Some(taken) => (self.decode)(taken),
            // The machine resolves a wait without a deadline only with an event.
            None => Err(Error::fatal(format!(
                "the wait for event `{}` ended without one",
                self.wait.events.join("|")
            ))),
        })
    }
}

impl<T> Future for EventWait<T, Optional> {
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let taken = self.wait.poll(context);
        taken.map(|taken| taken?.first().map(self.decode).transpose())
    }
}

impl<T> Future for EventWait<T, Batch> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let taken = self.wait.poll(context);
        taken.map(|taken| taken?.iter().map(self.decode).collect())
    }
}

impl<T, Form> std::fmt::Debug for EventWait<T, Form> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventWait({})", self.wait.events.join(", "))
    }
}
