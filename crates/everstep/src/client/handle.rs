//! Handles to runs: wait for a run, read it, send it events.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{OtherWorkflow, RunInfo, SendEvent, Sent};
use everstep_inspect::{Line, Shape, Why, shape, timeline};
use everstep_model::{
    Entry, Generation, Name, Payload, RecordNumber, RunId, RunStatus, StreamNumber,
};
use futures_util::future::{Either, select};

use super::error::{ControlError, FindError, ReadError, SendError, WaitError};
use super::port::{Client, Port};
use super::records::Records;
use crate::declaration::{Accepts, Event};
use crate::workflow::Workflow;

/// A run of any workflow.
#[derive(Clone, Debug)]
pub struct RunHandle {
    pub(crate) port: Arc<dyn Port>,
    pub(crate) id: RunId,
    created: bool,
    /// The stream of the generation that was started with this handle.
    stream: Option<StreamNumber>,
}

/// A run of a known workflow.
pub struct Handle<W> {
    run: RunHandle,
    workflow: PhantomData<fn() -> W>,
}

impl Client {
    /// Returns a handle to an existing run.
    pub async fn run(&self, id: impl AsRef<str>) -> Result<RunHandle, ReadError> {
        let id = RunId::new(id)?;
        self.port.row(&id).await?;
        Ok(RunHandle::new(self.port.clone(), id, false, None))
    }

    /// Creates a run with a journal that was read from another store with [`RunHandle::journal`],
    /// or from the lines that `everstep export` writes. The records stay as they are. If the run
    /// has not ended, it continues, so it must not continue in the other store too.
    ///
    /// # Errors
    /// If the run exists, or the records are not a whole journal.
    pub async fn import(
        &self,
        id: impl AsRef<str>,
        journal: Vec<Entry>,
    ) -> Result<RunHandle, ControlError> {
        let id = RunId::new(id)?;
        self.port.import(id.clone(), journal).await?;
        Ok(RunHandle::new(self.port.clone(), id, true, None))
    }

    /// Returns a typed handle to an existing run.
    ///
    /// # Errors
    /// If the run does not exist or has another workflow.
    pub async fn run_of<W: Workflow>(&self, id: impl AsRef<str>) -> Result<Handle<W>, FindError> {
        let id = RunId::new(id).map_err(ReadError::from)?;
        let row = self.port.row(&id).await?;
        if row.workflow.as_str() != W::NAME {
            let asked = Name::new(W::NAME).map_err(ReadError::from)?;
            return Err(FindError::OtherWorkflow(OtherWorkflow {
                run: id,
                workflow: row.workflow,
                asked,
            }));
        }
        let run = RunHandle::new(self.port.clone(), id, false, None);
        Ok(Handle::new(run))
    }
}

impl RunHandle {
    pub(crate) fn new(
        port: Arc<dyn Port>,
        id: RunId,
        created: bool,
        stream: Option<StreamNumber>,
    ) -> Self {
        Self {
            port,
            id,
            created,
            stream,
        }
    }

    #[allow(missing_docs, reason = "the name explains it")]
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns whether the request that returned this handle created the run.
    #[must_use]
    pub fn created(&self) -> bool {
        self.created
    }

    /// Waits for the end of the run and returns its result as JSON. If the run is revived
    /// meanwhile, this returns the end of the earlier generation.
    ///
    /// # Errors
    /// If the run does not complete.
    pub async fn wait_json(&self) -> Result<Payload, WaitError> {
        self.port.result(&self.id, self.stream).await
    }

    /// Waits like [`Self::wait_json`], up to a timeout.
    ///
    /// # Errors
    /// If the run does not complete in time.
    pub async fn wait_json_within(&self, timeout: Duration) -> Result<Payload, WaitError> {
        let sleep = self.port.sleep(timeout);
        match select(std::pin::pin!(self.wait_json()), sleep).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(WaitError::TimedOut {
                run: self.id.clone(),
                status: self.status().await?,
                timeout,
            }),
        }
    }

    /// Returns the latest generation: 1, and one more after each revival.
    pub async fn generation(&self) -> Result<Generation, ReadError> {
        self.port.row(&self.id).await.map(|row| row.generation)
    }

    #[allow(missing_docs, reason = "the name explains it")]
    pub async fn status(&self) -> Result<RunStatus, ReadError> {
        self.port.row(&self.id).await.map(|row| row.status)
    }

    /// Reads the run in full: its steps with their results, its waits, its result or error. The
    /// results of all steps are in memory.
    pub async fn inspect(&self) -> Result<RunInfo, ReadError> {
        self.port.inspect(&self.id).await
    }

    /// Explains why the run does not continue.
    pub async fn why(&self) -> Result<Why, ReadError> {
        self.port.why(&self.id).await
    }

    #[allow(missing_docs, reason = "the name explains it")]
    pub async fn journal(&self) -> Result<Vec<Entry>, ReadError> {
        self.port.journal(&self.id).await
    }

    /// Returns the journal as an audit trail: actor, action, time and duration.
    /// [`to_json_lines`](crate::inspect::to_json_lines) writes it for programs.
    pub async fn timeline(&self) -> Result<Vec<Line>, ReadError> {
        Ok(timeline(&self.port.redacted_journal(&self.id).await?))
    }

    /// Returns the structure of the run: steps, branches, loops, and their status.
    /// [`to_mermaid`](crate::inspect::to_mermaid) draws it.
    pub async fn shape(&self) -> Result<Shape, ReadError> {
        Ok(shape(&self.port.redacted_journal(&self.id).await?))
    }

    /// Follows the journal from its beginning.
    pub async fn records(&self) -> Result<Records, ReadError> {
        self.records_from(RecordNumber(0)).await
    }

    /// Follows the journal from a record.
    pub async fn records_from(&self, from: RecordNumber) -> Result<Records, ReadError> {
        self.port.records(&self.id, from).await
    }

    /// Sends an event by name, with its payload as JSON.
    ///
    /// # Errors
    /// If the workflow does not accept the event, the payload does not fit, or the run has ended.
    pub async fn send_by_name(
        &self,
        name: impl AsRef<str>,
        payload: Payload,
        dedup_id: Option<String>,
    ) -> Result<Sent, SendError> {
        let event = self.event(name, payload, dedup_id)?;
        self.port.send(event).await
    }

    pub(super) fn event(
        &self,
        name: impl AsRef<str>,
        payload: Payload,
        dedup_id: Option<String>,
    ) -> Result<SendEvent, SendError> {
        Ok(SendEvent {
            run: self.id.clone(),
            name: Name::new(name)?,
            payload,
            dedup_id,
            by: None,
            generation: None,
        })
    }
}

impl<W: Workflow> Handle<W> {
    pub(crate) fn new(run: RunHandle) -> Self {
        Self {
            run,
            workflow: PhantomData,
        }
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// If the run does not complete.
    pub async fn wait(&self) -> Result<W::Output, WaitError> {
        let result = self.run.wait_json().await?;
        result.decode().map_err(WaitError::Output)
    }

    /// Waits for the end of the run, up to a timeout.
    ///
    /// # Errors
    /// If the run does not complete in time.
    pub async fn wait_within(&self, timeout: Duration) -> Result<W::Output, WaitError> {
        let result = self.run.wait_json_within(timeout).await?;
        result.decode().map_err(WaitError::Output)
    }

    /// Sends an event.
    ///
    /// ```
    /// # use everstep::schemars::{self, JsonSchema};
    /// # use everstep::{Ctx, Event, Handle, Result, Workflow, interface};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Refund;
    /// # impl Event for Refund { const NAME: &'static str = "refund"; }
    /// struct Payment;
    /// interface!(Payments { events: Approval; });
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     type Interface = Payments;
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    ///
    /// async fn approve(run: Handle<Payment>) -> Result<()> {
    ///     run.send(&Approval).await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// An event that the workflow does not accept does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use everstep::schemars::{self, JsonSchema};
    /// # use everstep::{Ctx, Event, Handle, Result, Workflow, interface};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Approval;
    /// # impl Event for Approval { const NAME: &'static str = "approval"; }
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Refund;
    /// # impl Event for Refund { const NAME: &'static str = "refund"; }
    /// struct Payment;
    /// interface!(Payments { events: Approval; });
    /// # impl Workflow for Payment {
    /// #     const NAME: &'static str = "payment";
    /// #     type Input = ();
    /// #     type Output = ();
    /// #     type Interface = Payments;
    /// #     async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> { Ok(()) }
    /// # }
    ///
    /// async fn refund(run: Handle<Payment>) -> Result<()> {
    ///     run.send(&Refund).await?; // `Payment` does not accept the event `Refund`
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If the run has ended.
    pub async fn send<E: Event>(&self, event: &E) -> Result<Sent, SendError>
    where
        W: Accepts<E>,
    {
        let payload = Payload::from_value(event)?;
        self.run.send_by_name(E::NAME, payload, None).await
    }

    /// Sends an event at most once: a second event with the same id has no effect.
    ///
    /// # Errors
    /// If the run has ended.
    pub async fn send_once<E: Event>(
        &self,
        event: &E,
        dedup_id: impl Into<String>,
    ) -> Result<Sent, SendError>
    where
        W: Accepts<E>,
    {
        let (payload, dedup_id) = (Payload::from_value(event)?, Some(dedup_id.into()));
        self.run.send_by_name(E::NAME, payload, dedup_id).await
    }
}

impl<W> Deref for Handle<W> {
    type Target = RunHandle;

    fn deref(&self) -> &RunHandle {
        &self.run
    }
}

impl<W> Clone for Handle<W> {
    fn clone(&self) -> Self {
        Self {
            run: self.run.clone(),
            workflow: PhantomData,
        }
    }
}

debug_by_name!(impl<W> Handle<W>: run.id);
