//! The handle through which workflow code does everything durable.

use std::marker::PhantomData;
use std::sync::Arc;

use everstep_machine::{CallSite, Replay, Written};
use everstep_model::record::RESERVED_COLLECTIONS;
use everstep_model::{InvalidAttribute, Payload, RunId, Scope, Timestamp, check_attribute};
use serde::Serialize;

use crate::declaration::{Accepts, Event};
use crate::error::Result;
pub use crate::execution::RunMetadata;
use crate::execution::Shared;
use crate::options::invalid;

/// The workflow of a plain function: it accepts every event.
#[derive(Clone, Copy, Debug)]
pub struct AnyEvent;

impl<E: Event> Accepts<E> for AnyEvent {}

/// A run, as its own code sees it. Clones are the same handle.
///
/// An operation is called when it is first awaited. Several may be open at once: `tokio::join!` and the like are fine,
/// `tokio::select!` only in its `biased` form.
// Large type: it has one method for each operation that a workflow can call.
pub struct Ctx<W = AnyEvent> {
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

    /// The same run, seen from another scope.
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

    /// Sends an event to another run, durably and once. The code goes on at once; the event arrives when this is in the
    /// journal, and events to one run arrive in the order they were sent. One that the other run cannot take, because it is
    /// over or does not exist, has no effect.
    ///
    /// ```
    /// # use everstep::{Accepts, Ctx, Event, Result, RunId, Workflow};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # struct Payment;
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    /// impl Accepts<Approval> for Payment {}
    ///
    /// fn approve(ctx: &Ctx, payment: &RunId) -> Result<()> {
    ///     ctx.send::<Payment, _>(payment, &Approval)
    /// }
    /// ```
    ///
    /// An event that the other workflow does not accept does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use everstep::{Accepts, Ctx, Event, Result, RunId, Workflow};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # struct Payment;
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    ///
    /// fn approve(ctx: &Ctx, payment: &RunId) -> Result<()> {
    ///     ctx.send::<Payment, _>(payment, &Approval)
    /// }
    /// ```
    #[track_caller]
    pub fn send<C, E>(&self, to: impl AsRef<str>, event: &E) -> Result<()>
    where
        C: Accepts<E>,
        E: Event,
    {
        self.send_at(
            to.as_ref(),
            E::NAME,
            Payload::from_value(event)?,
            CallSite::caller(),
        )
    }

    /// Sends an event by name to another run, with its payload as JSON.
    #[track_caller]
    pub fn send_by_name(&self, to: impl AsRef<str>, event: &str, payload: Payload) -> Result<()> {
        self.send_at(to.as_ref(), event, payload, CallSite::caller())
    }

    fn send_at(&self, to: &str, event: &str, payload: Payload, site: CallSite) -> Result<()> {
        let to = RunId::new(to)?;
        self.call(|replay| {
            let event = replay.name(event)?;
            let sent = Written::Send { to, event, payload };
            replay.write(&self.scope, sent, site);
            Ok(())
        })
    }

    /// The point of no return: from here on a rollback runs only undos marked as internal, such as by [`Step::undo_internal`](crate::operation::Step::undo_internal); the others are
    /// recorded as skipped.
    #[track_caller]
    pub fn no_return(&self) {
        let site = CallSite::caller();
        self.shared
            .with(|execution| execution.replay.write(&self.scope, Written::NoReturn, site));
    }

    /// Leaves a line in the run's journal, for people who read it later.
    #[track_caller]
    pub fn note(&self, text: impl Into<String>) {
        let site = CallSite::caller();
        let note = Written::Note(text.into());
        self.shared
            .with(|execution| execution.replay.write(&self.scope, note, site));
    }

    /// Sets a row that live clients see. `workflow`, `step`, `rpc` and `event` are collections of the engine.
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
                "rows named `{collection}` are the engine's; choose another collection"
            )));
        }
        if key.is_empty() {
            return Err(invalid("a row needs a key"));
        }
        self.call(|replay| {
            let collection = replay.name(collection)?;
            let row = Written::Row {
                collection,
                key,
                value,
            };
            replay.write(&self.scope, row, site);
            Ok(())
        })
    }

    /// Calls something that takes effect at once. It has no effect where the code is not being
    /// polled: the run then fails.
    fn call(&self, call: impl FnOnce(&mut Replay) -> Result<()>) -> Result<()> {
        let called = self.shared.with(|execution| call(&mut execution.replay));
        called.unwrap_or(Ok(()))
    }

    /// Sets an attribute of the run: a number, a boolean or a text of at most 256 bytes, which everyone who may read the
    /// run can see. It replaces the attribute's earlier value.
    ///
    /// A name begins with a letter, consists of letters, digits, `_`, `-` and `.`, and is not a word of the query
    /// language, such as `status`.
    #[track_caller]
    pub fn set_attribute(&self, name: &str, value: impl Serialize) -> Result<()> {
        let value = Payload::from_value(&value)?;
        match check_attribute(name, &value) {
            Ok(()) => {}
            Err(InvalidAttribute::Name(invalid)) => return Err(invalid.into()),
            Err(error) => return Err(invalid(&error.to_string())),
        }
        let site = CallSite::caller();
        self.call(|replay| {
            let name = replay.name(name)?;
            replay.write(&self.scope, Written::Attribute { name, value }, site);
            Ok(())
        })
    }

    /// Notifies whoever listens to the engine, once per call, as best it can.
    #[track_caller]
    pub fn emit<T: Serialize>(&self, topic: &str, payload: &T) -> Result<()> {
        let payload = Payload::from_value(payload)?;
        let site = CallSite::caller();
        self.call(|replay| {
            let topic = replay.name(topic)?;
            replay.write(&self.scope, Written::Emit { topic, payload }, site);
            Ok(())
        })
    }

    /// Which version of a change this run follows: runs that passed this place before the change get 1, new ones
    /// `latest`.
    #[track_caller]
    pub fn version(&self, change: &str, latest: u32) -> Result<u32> {
        if latest < 1 {
            return Err(invalid("versions of a change count from 1"));
        }
        let site = CallSite::caller();
        let version = self.shared.with(|execution| {
            let change = execution.replay.name(change)?;
            let replay = &mut execution.replay;
            Ok(replay.version(&self.scope, &change, latest, site))
        });
        version.unwrap_or(Ok(latest))
    }

    /// The time, as the journal knows it: the same on every replay.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// A random number: the same on every replay. Not for secrets.
    #[must_use]
    #[track_caller]
    pub fn random(&self) -> u64 {
        let site = CallSite::caller();
        self.draw(site)
    }

    /// A random UUID (version 4): the same on every replay.
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

    /// What the run knows about itself.
    #[must_use]
    pub fn metadata(&self) -> RunMetadata {
        self.shared.metadata().clone()
    }
}
