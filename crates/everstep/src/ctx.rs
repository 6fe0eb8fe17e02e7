//! The handle through which workflow code does everything durable.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::{CallSite, Replay, Written};
use everstep_model::record::RESERVED_COLLECTIONS;
use everstep_model::{
    Generation, InvalidAttribute, Name, Payload, RunId, Scope, Timestamp, check_attribute,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::event::{Accepts, Event};
use crate::execution::Shared;
use crate::operation::{Child, EventWait, Rollback, RpcCall, Sleep, Step, StepContext, TryStep};
use crate::rpc::Rpc;
use crate::workflow::Workflow;

/// The workflow of a plain function: it accepts every event.
#[derive(Clone, Copy, Debug)]
pub struct AnyEvent;

impl<E: Event> Accepts<E> for AnyEvent {}

/// What a run knows about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMetadata {
    /// The run.
    pub id: RunId,
    /// Its life.
    pub generation: Generation,
    /// Its workflow.
    pub workflow: Name,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it must be over.
    pub deadline: Option<Timestamp>,
    /// Which pass of the function this is, from 1; higher after an execution retry.
    pub attempt: u32,
}

/// A run, as its own code sees it. Clones are the same handle.
///
/// An operation is called when it is first awaited. Several may be open at once: `tokio::join!` and the like are fine,
/// `tokio::select!` only in its `biased` form.
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

    /// A named unit of work whose result is recorded once. It is retried as its options say.
    #[track_caller]
    pub fn step<F, Fut, T, E>(
        &self,
        name: &str,
        mut work: F,
    ) -> Step<impl FnMut(StepContext) -> Fut + use<F, Fut, T, E, W>, Fut, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
    {
        self.step_with(name, move |_| work())
    }

    /// A step whose work sees the attempt it is and the step's idempotency key.
    #[track_caller]
    pub fn step_with<F, Fut, T, E>(&self, name: &str, work: F) -> Step<F, Fut, T>
    where
        F: FnMut(StepContext) -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
    {
        let (shared, scope) = (self.shared.clone(), self.scope.clone());
        Step::new(shared, scope, name.to_owned(), work, CallSite::caller())
    }

    /// A step that gives its failure back as data: `Ok(Err(failure))` when it has failed for good.
    #[track_caller]
    pub fn try_step<F, Fut, T, E>(
        &self,
        name: &str,
        work: F,
    ) -> TryStep<impl FnMut(StepContext) -> Fut + use<F, Fut, T, E, W>, Fut, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
    {
        TryStep::new(self.step(name, work))
    }

    /// Sleeps for a time, durably: the run costs nothing meanwhile.
    #[track_caller]
    pub fn sleep(&self, name: &str, duration: Duration) -> Sleep {
        let (shared, scope) = (self.shared.clone(), self.scope.clone());
        Sleep::for_duration(shared, scope, name.to_owned(), duration, CallSite::caller())
    }

    /// Sleeps until a time. One that has passed completes at once.
    #[track_caller]
    pub fn sleep_until(&self, name: &str, until: Timestamp) -> Sleep {
        let (shared, scope) = (self.shared.clone(), self.scope.clone());
        Sleep::until(shared, scope, name.to_owned(), until, CallSite::caller())
    }

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
        EventWait::new(self.shared.clone(), self.scope.clone(), CallSite::caller())
    }

    /// Asks a question and waits for the answer. Clients see it as soon as it is asked.
    #[track_caller]
    pub fn rpc<R: Rpc>(&self, question: R) -> RpcCall<R> {
        RpcCall::new(
            self.shared.clone(),
            self.scope.clone(),
            &question,
            CallSite::caller(),
        )
    }

    /// Starts another run and waits for its end. The same child is found again on every replay.
    #[track_caller]
    pub fn child<C: Workflow>(&self, input: &C::Input) -> Child<C::Output> {
        let (shared, scope) = (self.shared.clone(), self.scope.clone());
        let input = Payload::from_value(input);
        Child::new(shared, scope, C::NAME, input, CallSite::caller())
    }

    /// Starts a run of the workflow of that name and waits for its end; input and result as JSON.
    #[track_caller]
    pub fn child_by_name(&self, workflow: &str, input: Payload) -> Child<Payload> {
        let (shared, scope) = (self.shared.clone(), self.scope.clone());
        Child::new(shared, scope, workflow, Ok(input), CallSite::caller())
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

    /// Undoes every step and child that is done and has an undo, the latest first, and then goes on. With nothing to undo it changes
    /// nothing. If an undo fails for good, the rest is not undone and this is an error.
    #[track_caller]
    pub fn rollback(&self) -> Rollback {
        Rollback::new(self.shared.clone(), self.scope.clone(), CallSite::caller())
    }

    /// The point of no return: from here on a rollback runs only undos marked as internal, such as by [`Step::undo_internal`]; the others are
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
            return Err(crate::options::invalid(&format!(
                "rows named `{collection}` are the engine's; choose another collection"
            )));
        }
        if key.is_empty() {
            return Err(crate::options::invalid("a row needs a key"));
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
            Err(invalid) => return Err(crate::options::invalid(&invalid.to_string())),
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
            return Err(crate::options::invalid("versions of a change count from 1"));
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
