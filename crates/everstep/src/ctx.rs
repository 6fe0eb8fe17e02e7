//! The handle of workflow code to its run, and the operations that take effect at once.

use std::marker::PhantomData;
use std::sync::Arc;

use everstep_machine::{Call, CallSite, Replay, Written};
use everstep_model::record::RESERVED_COLLECTIONS;
use everstep_model::{InvalidAttribute, Name, Payload, RunId, Scope, Timestamp, check_attribute};
use serde::Serialize;

use crate::declaration::{Accepts, Event};
use crate::error::{Error, Result};
use crate::execution::{RunMetadata, Shared};
use crate::options::invalid;

/// The handle of workflow code to its run. Clones are the same handle. Its parameter is the
/// workflow, or the interface of a plain function: see
/// [`Workflows::function`](crate::Workflows::function).
///
/// An operation is called when it is first awaited. Several may be open at once: `tokio::join!` is
/// deterministic, `tokio::select!` only in its `biased` form.
// Large type: it has one method for each operation that a workflow can call.
pub struct Ctx<W = ()> {
    shared: Arc<Shared>,
    scope: Scope,
    workflow: PhantomData<fn() -> W>,
}

impl<W> Clone for Ctx<W> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            scope: self.scope.clone(),
            workflow: PhantomData,
        }
    }
}

impl<W> std::fmt::Debug for Ctx<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ctx")
    }
}

impl<W> Ctx<W> {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            scope: Scope::ROOT,
            workflow: PhantomData,
        }
    }

    /// Returns a handle for another scope of the run.
    pub(crate) fn in_scope(&self, scope: Scope) -> Self {
        Self {
            shared: self.shared.clone(),
            scope,
            workflow: PhantomData,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Calls an operation that the machine answers at once. Returns `None` if the code must not
    /// continue.
    pub(crate) fn call_now<C: Call>(
        &self,
        name: &str,
        site: CallSite,
        call: impl FnOnce(&mut Replay, &Name) -> Result<C>,
    ) -> Result<Option<C::Output>> {
        let called = self.shared.with(|execution| {
            let replay = &mut execution.replay;
            let name = replay.name(name)?;
            let call = call(replay, &name)?;
            Ok::<_, Error>(replay.call(&self.scope, &name, call, site))
        });
        Ok(called.transpose()?.flatten())
    }

    /// Sends an event to another run, durably and once. The code continues at once; the event
    /// arrives when this call is durable, and events to one run arrive in the order they were sent.
    /// An event to a run that has ended or does not exist has no effect.
    ///
    /// ```
    /// # use everstep::schemars::{self, JsonSchema};
    /// # use everstep::{Ctx, Event, Result, RunId, Workflow, interface};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Refund;
    /// # impl Event for Refund { const NAME: &'static str = "refund"; }
    /// # struct Payment;
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     type Interface = Payments;
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    /// interface!(Payments { events: Approval; });
    ///
    /// fn approve(ctx: &Ctx, payment: &RunId) -> Result<()> {
    ///     ctx.send::<Payment, _>(payment, &Approval)
    /// }
    /// ```
    ///
    /// An event that the other workflow does not accept does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use everstep::schemars::{self, JsonSchema};
    /// # use everstep::{Ctx, Event, Result, RunId, Workflow, interface};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Refund;
    /// # impl Event for Refund { const NAME: &'static str = "refund"; }
    /// # struct Payment;
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     type Interface = Payments;
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    /// interface!(Payments { events: Approval; });
    ///
    /// fn refund(ctx: &Ctx, payment: &RunId) -> Result<()> {
    ///     ctx.send::<Payment, _>(payment, &Refund) // `Payment` does not accept the event `Refund`
    /// }
    /// ```
    #[track_caller]
    pub fn send<C, E>(&self, to: impl AsRef<str>, event: &E) -> Result<()>
    where
        C: Accepts<E>,
        E: Event,
    {
        self.send_by_name(to, E::NAME, Payload::from_value(event)?)
    }

    /// Sends an event by name to another run, with its payload as JSON.
    #[track_caller]
    pub fn send_by_name(&self, to: impl AsRef<str>, event: &str, payload: Payload) -> Result<()> {
        let (to, site) = (RunId::new(to)?, CallSite::caller());
        self.write(site, |replay| {
            let event = replay.name(event)?;
            Ok(Written::Send { to, event, payload })
        })
    }

    /// Marks the point of no return: from now on a rollback runs only internal undos
    /// ([`Step::undo_internal`](crate::operation::Step::undo_internal)) and records the others as
    /// skipped.
    #[track_caller]
    pub fn no_return(&self) {
        let site = CallSite::caller();
        self.shared
            .with(|execution| execution.replay.write(&self.scope, Written::NoReturn, site));
    }

    /// Writes an audit entry to the journal.
    #[track_caller]
    pub fn note(&self, text: impl Into<String>) {
        let site = CallSite::caller();
        let note = Written::Note(text.into());
        self.shared
            .with(|execution| execution.replay.write(&self.scope, note, site));
    }

    /// Sets a row that live clients see. The collections `workflow`, `step`, `rpc` and `event`
    /// belong to the engine.
    #[track_caller]
    pub fn set_row<T: Serialize>(
        &self,
        collection: &str,
        key: impl Into<String>,
        value: &T,
    ) -> Result<()> {
        let value = Payload::from_value(value)?;
        self.change_row(collection, key.into(), Some(value), CallSite::caller())
    }

    /// Deletes a row that live clients see.
    #[track_caller]
    pub fn delete_row(&self, collection: &str, key: impl Into<String>) -> Result<()> {
        self.change_row(collection, key.into(), None, CallSite::caller())
    }

    fn change_row(
        &self,
        collection: &str,
        key: String,
        value: Option<Payload>,
        site: CallSite,
    ) -> Result<()> {
        if RESERVED_COLLECTIONS.contains(&collection) || collection.starts_with("workflow:") {
            return Err(invalid(&format!(
                "the collection `{collection}` belongs to the engine; choose another one"
            )));
        }
        if key.is_empty() {
            return Err(invalid("a row needs a key"));
        }
        self.write(site, |replay| {
            Ok(Written::Row {
                collection: replay.name(collection)?,
                key,
                value,
            })
        })
    }

    /// Writes a record once. Where the code is not being polled, it has no effect, and the run
    /// fails.
    fn write(
        &self,
        site: CallSite,
        written: impl FnOnce(&mut Replay) -> Result<Written>,
    ) -> Result<()> {
        let called = self.shared.with(|execution| {
            let written = written(&mut execution.replay)?;
            execution.replay.write(&self.scope, written, site);
            Ok(())
        });
        called.unwrap_or(Ok(()))
    }

    /// Sets an attribute of the run: a number, a boolean or a text of at most 256 bytes that all
    /// readers of the run see. It replaces the earlier value.
    ///
    /// A name begins with a letter, consists of letters, digits, `_`, `-` and `.`, and is not a
    /// word of the query language, such as `status`.
    #[track_caller]
    pub fn set_attribute(&self, name: &str, value: impl Serialize) -> Result<()> {
        let value = Payload::from_value(&value)?;
        match check_attribute(name, &value) {
            Ok(()) => {}
            Err(InvalidAttribute::Name(invalid)) => return Err(invalid.into()),
            Err(error) => return Err(invalid(&error.to_string())),
        }
        let site = CallSite::caller();
        self.write(site, |replay| {
            let name = replay.name(name)?;
            Ok(Written::Attribute { name, value })
        })
    }

    /// Notifies the subscribers of the engine, once per call, on a best-effort basis.
    #[track_caller]
    pub fn emit<T: Serialize>(&self, topic: &str, payload: &T) -> Result<()> {
        let payload = Payload::from_value(payload)?;
        let site = CallSite::caller();
        self.write(site, |replay| {
            let topic = replay.name(topic)?;
            Ok(Written::Emit { topic, payload })
        })
    }

    /// Returns the version of a change that this run follows: 1 for runs that were past this point
    /// before the change, `latest` for others.
    #[track_caller]
    pub fn version(&self, change: &str, latest: u32) -> Result<u32> {
        if latest < 1 {
            return Err(invalid("versions of a change count from 1"));
        }
        let site = CallSite::caller();
        let version = self.shared.with(|execution| {
            let change = execution.replay.name(change)?;
            Ok(execution.replay.version(&self.scope, &change, latest, site))
        });
        version.unwrap_or(Ok(latest))
    }

    /// Returns the time according to the journal: the same on every replay.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// Returns a random number: the same on every replay. Not for secrets.
    #[must_use]
    #[track_caller]
    pub fn random(&self) -> u64 {
        self.draw(CallSite::caller())
    }

    /// Returns a random UUID (version 4): the same on every replay.
    #[must_use]
    #[track_caller]
    pub fn uuid(&self) -> String {
        let site = CallSite::caller();
        let (high, low) = (self.draw(site), self.draw(site));
        let high = (high & !0xF000) | 0x4000;
        let low = (low & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xFFFF,
            high & 0xFFFF,
            low >> 48,
            low & 0xFFFF_FFFF_FFFF
        )
    }

    fn draw(&self, site: CallSite) -> u64 {
        let drawn = self
            .shared
            .with(|execution| execution.replay.random(&self.scope, site));
        drawn.unwrap_or_default()
    }

    /// Returns the constants of the run.
    #[must_use]
    pub fn metadata(&self) -> RunMetadata {
        self.shared.metadata.clone()
    }
}
