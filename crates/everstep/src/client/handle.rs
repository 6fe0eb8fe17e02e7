//! Handles to runs: wait for one, look at it, send it events, answer its questions.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Answer, OtherWorkflow, RunInfo, SendEvent, Sent};
use everstep_inspect::Why;

use super::error::{AnswerError, FindError, ReadError, SendError, StartError};
use everstep_model::{
    Entry, ErrorCode, Failure, Generation, Name, Payload, PayloadError, RecordNumber, RpcId, RunId,
    RunStatus, StreamNumber,
};
use futures_util::future::{Either, select};
use serde::Serialize;

use super::Client;
use super::Records;
use super::port::{Begun, End, Port};
use crate::declaration::{Accepts, Event};
use crate::workflow::Workflow;

/// Why waiting for a run gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The run failed.
    #[error("the run failed: {0}")]
    Failed(Failure),
    /// The run was cancelled.
    #[error("the run was cancelled{}", .0.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Cancelled(Option<String>),
    /// The run was terminated.
    #[error("the run was terminated{}", .0.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Terminated(Option<String>),
    /// The run failed and so did its rollback.
    #[error("the run failed: {error}; and so did its rollback: {rollback_error}")]
    RollbackFailed {
        /// Why the run failed.
        error: Failure,
        /// Why the rollback failed.
        rollback_error: Failure,
    },
    /// The run was not over in time; it goes on.
    #[error("the run was not over within {0:?}; it goes on")]
    TimedOut(Duration),
    /// The result does not have the expected shape.
    #[error("the result of the run does not fit its type: {0}")]
    Output(#[source] PayloadError),
    /// The run could not be started; only [`Client::start_and_wait`] returns this.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl WaitError {
    /// Its stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Failed(_) => ErrorCode::RunFailed,
            Self::Cancelled(_) => ErrorCode::RunCancelled,
            Self::Terminated(_) => ErrorCode::RunTerminated,
            Self::RollbackFailed { .. } => ErrorCode::RollbackFailed,
            Self::TimedOut(_) => ErrorCode::WaitTimedOut,
            Self::Output(_) => ErrorCode::Undecodable,
            Self::Start(error) => error.code(),
            Self::Read(error) => error.code(),
        }
    }
}

/// A run, whatever its workflow.
#[derive(Clone, Debug)]
pub struct RunHandle {
    pub(crate) port: Arc<dyn Port>,
    pub(crate) id: RunId,
    pub(crate) created: bool,
    /// The stream of the life it was started with, if it was started here.
    pub(crate) stream: Option<StreamNumber>,
}

/// A run of a known workflow.
pub struct Handle<W> {
    run: RunHandle,
    workflow: PhantomData<fn() -> W>,
}

impl Client {
    /// A handle to an existing run.
    ///
    /// # Errors
    /// If there is none.
    pub async fn run(&self, id: impl AsRef<str>) -> Result<RunHandle, ReadError> {
        let id = RunId::new(id)?;
        self.port.row(&id).await?;
        Ok(RunHandle {
            port: self.port.clone(),
            id,
            created: false,
            stream: None,
        })
    }

    /// A typed handle to an existing run.
    ///
    /// # Errors
    /// If there is none, or it is a run of another workflow.
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
        Ok(Handle::new(RunHandle {
            port: self.port.clone(),
            id,
            created: false,
            stream: None,
        }))
    }
}

impl RunHandle {
    pub(crate) fn new(port: Arc<dyn Port>, begun: Begun) -> Self {
        Self {
            port,
            id: begun.run,
            created: begun.created,
            stream: begun.stream,
        }
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Whether the start that gave this handle created the run.
    #[must_use]
    pub fn created(&self) -> bool {
        self.created
    }

    /// Waits for the end of the run and gives its result as JSON. A run that is revived meanwhile is not waited for
    /// longer: the wait is for the life it found.
    ///
    /// # Errors
    /// If it ends otherwise than with a result.
    pub async fn wait_json(&self) -> Result<Payload, WaitError> {
        match self.port.ended(&self.id, self.stream).await? {
            End::Completed(result) => Ok(result),
            End::Failed(error) => Err(WaitError::Failed(error)),
            End::Cancelled(reason) => Err(WaitError::Cancelled(reason)),
            End::Terminated(reason) => Err(WaitError::Terminated(reason)),
            End::RollbackFailed {
                error,
                rollback_error,
            } => Err(WaitError::RollbackFailed {
                error,
                rollback_error,
            }),
        }
    }

    /// Waits like [`Self::wait_json`], but not longer than this.
    ///
    /// # Errors
    /// If it ends otherwise than with a result, or not in time.
    pub async fn wait_json_within(&self, timeout: Duration) -> Result<Payload, WaitError> {
        let sleep = self.port.sleep(timeout);
        match select(std::pin::pin!(self.wait_json()), sleep).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(WaitError::TimedOut(timeout)),
        }
    }

    /// Which life of the run is the latest: 1, and one more after each revival.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn generation(&self) -> Result<Generation, ReadError> {
        let row = self.port.row(&self.id).await?;
        Ok(row.generation)
    }

    /// What the run is doing.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn status(&self) -> Result<RunStatus, ReadError> {
        self.port.row(&self.id).await.map(|row| row.status)
    }

    /// The run in full: its steps, what it waits for, its result or error.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn inspect(&self) -> Result<RunInfo, ReadError> {
        self.port.inspect(&self.id).await
    }

    /// Why the run is not moving.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn why(&self) -> Result<Why, ReadError> {
        self.port.why(&self.id).await
    }

    /// The run's journal.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn journal(&self) -> Result<Vec<Entry>, ReadError> {
        self.port.journal(&self.id).await
    }

    /// The run's records as they come, from the beginning.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn records(&self) -> Result<Records, ReadError> {
        self.records_from(RecordNumber(0)).await
    }

    /// The run's records as they come, from this one on.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn records_from(&self, from: RecordNumber) -> Result<Records, ReadError> {
        self.port.records(&self.id, from).await
    }

    /// Sends an event by name, with its payload as JSON.
    ///
    /// # Errors
    /// If the workflow does not accept it, it does not fit, or the run is over.
    pub async fn send_by_name(
        &self,
        name: impl AsRef<str>,
        payload: Payload,
        dedup_id: Option<String>,
    ) -> Result<Sent, SendError> {
        let event = SendEvent {
            run: self.id.clone(),
            name: Name::new(name)?,
            payload,
            dedup_id,
            by: None,
            generation: None,
        };
        self.port.send(event).await
    }

    /// Answers a question of the run. The first valid answer wins.
    ///
    /// # Errors
    /// If the question is not open any more, or the answer does not fit it.
    pub async fn answer<T: Serialize + ?Sized>(
        &self,
        rpc: &RpcId,
        answer: &T,
    ) -> Result<(), AnswerError> {
        let answer = Answer {
            run: self.id.clone(),
            rpc: rpc.clone(),
            answer: Payload::from_value(answer)?,
            by: None,
            dedup_id: None,
            generation: None,
        };
        self.port.answer(answer).await
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
    /// If it ends otherwise than with a result.
    pub async fn wait(&self) -> Result<W::Output, WaitError> {
        self.run
            .wait_json()
            .await?
            .decode()
            .map_err(WaitError::Output)
    }

    /// Waits for the end of the run, but not longer than this.
    ///
    /// # Errors
    /// If it ends otherwise than with a result, or not in time.
    pub async fn wait_within(&self, timeout: Duration) -> Result<W::Output, WaitError> {
        let result = self.run.wait_json_within(timeout).await?;
        result.decode().map_err(WaitError::Output)
    }

    /// Sends an event. One that the workflow does not accept does not compile.
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
    /// async fn approve(run: Handle<Payment>) -> Result<()> {
    ///     run.send(&Approval).await?;
    ///     Ok(())
    /// }
    /// ```
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
    /// async fn refund(run: Handle<Payment>) -> Result<()> {
    ///     run.send(&Refund).await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If the run is over.
    pub async fn send<E: Event>(&self, event: &E) -> Result<Sent, SendError>
    where
        W: Accepts<E>,
    {
        let payload = Payload::from_value(event)?;
        self.run.send_by_name(E::NAME, payload, None).await
    }

    /// Sends an event once: a second one with the same id changes nothing.
    ///
    /// # Errors
    /// If the run is over.
    pub async fn send_once<E: Event>(
        &self,
        event: &E,
        dedup_id: impl Into<String>,
    ) -> Result<Sent, SendError>
    where
        W: Accepts<E>,
    {
        let payload = Payload::from_value(event)?;
        self.run
            .send_by_name(E::NAME, payload, Some(dedup_id.into()))
            .await
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

impl<W> std::fmt::Debug for Handle<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle({})", self.run.id)
    }
}
