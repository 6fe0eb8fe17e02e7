//! Replays recorded journals against today's code: the code must fit the journal and reach the same
//! end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use everstep_driver::{Returned, Verified};
use everstep_engine::Runtime;
use everstep_machine::{Divergence, Halt};
use everstep_model::{
    Body, Entry, ErrorCode, Failure, Generation, InvalidName, InvalidRunId, Payload, RunId,
    Timestamp,
};
use everstep_store::{BoxFuture, Clock, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ctx::Ctx;
use crate::declaration::Interface;
use crate::error::Result;
use crate::execution::{SharedParts, verify};
use crate::options::Options;
use crate::workflow::Definition;
use crate::workflow::Workflow;

/// A journal to replay, and the id of its run.
#[derive(Clone, Debug)]
pub struct Recording {
    run: Option<RunId>,
    journal: Vec<Entry>,
}

impl Recording {
    /// A recorded journal.
    #[must_use]
    pub fn new(journal: Vec<Entry>) -> Self {
        Self { run: None, journal }
    }

    /// Sets the id of the run, which the journal does not contain, for code that reads it.
    ///
    /// # Errors
    /// If the id is invalid.
    pub fn of_run(mut self, id: impl AsRef<str>) -> Result<Self, InvalidRunId> {
        self.run = Some(RunId::new(id)?);
        Ok(self)
    }
}

impl From<Vec<Entry>> for Recording {
    fn from(journal: Vec<Entry>) -> Self {
        Self::new(journal)
    }
}

impl From<&[Entry]> for Recording {
    fn from(journal: &[Entry]) -> Self {
        Self::new(journal.to_vec())
    }
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayReport {
    /// The number of records that were replayed.
    pub records: usize,
    /// The end of the replay.
    pub end: ReplayEnd,
}

/// The end of a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayEnd {
    /// The code returned this.
    Completed(Payload),
    /// The code failed with this.
    Failed(Failure),
    /// The code has not finished: it waits, or has work to do that a replay does not execute.
    Unfinished,
}

/// Why a replay failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The code no longer fits the journal.
    #[error("{0}")]
    Diverged(Box<Divergence>),
    /// The code awaits something that is not durable.
    #[error("{0}")]
    NotDurable(String),
    /// The journal contains records that this release cannot replay.
    #[error("the journal holds a `{0}` record, which this release cannot replay")]
    Newer(&'static str),
    /// No engine wrote this journal.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    /// The journal belongs to another workflow.
    #[error("the journal belongs to workflow `{recorded}`, but the code is that of `{given}`")]
    OtherWorkflow {
        /// The workflow of the journal.
        recorded: String,
        /// The workflow to replay.
        given: String,
    },
    /// The name of the workflow is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
}

impl From<Halt> for ReplayError {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Diverged(divergence) => Self::Diverged(divergence),
            Halt::NotDurable(why) => Self::NotDurable(why),
            Halt::Newer(kind) => Self::Newer(kind),
            Halt::Damaged(detail) => Self::Damaged(detail),
            // A check appends nothing.
            Halt::Refused(reason) => Self::Damaged(reason.message),
        }
    }
}

/// Replays a recorded journal against the code of a workflow. Nothing is executed: steps return the
/// recorded results. If the journal ends early, the code stays unfinished. If it ends with a result
/// or an error, the code must end in the same way.
///
/// ```
/// use everstep::testing::{
///     ReplayEnd, ReplayError, TestEngine, journal_from_lines, journal_to_lines, replay_check, virtual_time,
/// };
/// use everstep::{Ctx, Error, Result, Workflow, Workflows};
///
/// struct Order {
///     first_step: &'static str,
/// }
/// impl Workflow for Order {
///     const NAME: &'static str = "order";
///     type Input = ();
///     type Output = u32;
///     type Interface = ();
///
///     async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<u32> {
///         ctx.step(self.first_step, || async { Ok::<_, Error>(7) }).await
///     }
/// }
///
/// let text = virtual_time(async {
///     let test = TestEngine::builder().workflows(Workflows::new().workflow(Order { first_step: "reserve" })).start().await;
///     let run = test.start::<Order>(&()).await.unwrap();
///     run.wait().await.unwrap();
///     journal_to_lines(&run.journal().await.unwrap()).unwrap() // keep it as a fixture
/// });
///
/// let journal = journal_from_lines(&text).unwrap();
/// let report = replay_check(Order { first_step: "reserve" }, journal.clone()).unwrap();
/// assert!(matches!(report.end, ReplayEnd::Completed(result) if result.as_str() == "7"));
///
/// let error = replay_check(Order { first_step: "charge" }, journal).unwrap_err();
/// assert!(matches!(&error, ReplayError::Diverged(_)));
/// assert!(error.to_string().contains("`reserve:0`"));
/// ```
///
/// # Errors
/// If the code does not fit the journal, or reaches another end.
pub fn replay_check<W: Workflow>(
    workflow: W,
    recording: impl Into<Recording>,
) -> Result<ReplayReport, ReplayError> {
    check(&Definition::of_workflow(workflow)?, recording.into())
}

/// Replays a recorded journal against a plain function. See [`replay_check`].
///
/// # Errors
/// If the code does not fit the journal, or reaches another end.
pub fn replay_check_function<F, C, I, O, Fut>(
    name: &str,
    function: F,
    recording: impl Into<Recording>,
) -> Result<ReplayReport, ReplayError>
where
    F: Fn(Ctx<C>, I) -> Fut + Send + Sync + 'static,
    C: Interface,
    Fut: Future<Output = Result<O>> + Send + 'static,
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    check(
        &Definition::of_function(name, Options::new(), function)?,
        recording.into(),
    )
}

pub(super) fn check(
    definition: &Definition,
    recording: Recording,
) -> Result<ReplayReport, ReplayError> {
    let Recording { run, journal } = recording;
    let Some(Body::Created(created)) = journal.first().map(|entry| &entry.record.body) else {
        return Err(ReplayError::Damaged(
            "it does not begin with `created`".to_owned(),
        ));
    };
    if created.workflow != definition.name {
        return Err(ReplayError::OtherWorkflow {
            recorded: created.workflow.to_string(),
            given: definition.name.to_string(),
        });
    }
    let last = journal.last().map(|entry| entry.record.clone());
    let time = last.as_ref().map(|record| record.time);
    let last = last.map(|record| record.body);
    let run = match run {
        Some(run) => run,
        None => RunId::new("recorded").map_err(|error| ReplayError::Damaged(error.to_string()))?,
    };
    let parts = SharedParts {
        run,
        generation: Generation::FIRST,
        workflow: definition.name.clone(),
        runtime: Arc::new(Still(time.unwrap_or_default())),
        defaults: definition.options,
        declaration: definition.declaration.clone(),
        mocks: None,
    };
    let records = journal.len();
    let last = last.filter(|last| !is_ended_from_outside(&journal, last));
    let verified = verify(&definition.code, parts, journal)?;
    let end = same_end(last.as_ref(), verified)?;
    Ok(ReplayReport { records, end })
}

/// The end of the code, if it is the recorded one.
fn same_end(last: Option<&Body>, verified: Verified) -> Result<ReplayEnd, ReplayError> {
    let is_over = last.is_some_and(|last| last.terminal().is_some());
    if let Some(divergence) = verified.unrecorded.filter(|_| is_over) {
        return Err(ReplayError::Diverged(Box::new(divergence)));
    }
    let end = match verified.returned {
        Some(Returned::Completed(result)) => ReplayEnd::Completed(result),
        Some(Returned::Failed(failed)) => ReplayEnd::Failed(failed.failure),
        None => ReplayEnd::Unfinished,
    };
    let difference = match last {
        Some(Body::Completed(recorded)) => {
            let is_same =
                matches!(&end, ReplayEnd::Completed(result) if *result == recorded.result);
            (!is_same).then(|| format!("the run returned {:?}", recorded.result))
        }
        last => last
            .and_then(recorded_error)
            .filter(|recorded| !is_same_end(recorded, &end))
            .map(|recorded| format!("the run failed with {:?}", recorded.message)),
    };
    let Some(difference) = difference else {
        return Ok(end);
    };
    Err(ReplayError::Diverged(Box::new(Divergence {
        record: None,
        recorded: None,
        recorded_site: None,
        called: None,
        called_site: None,
        detail: Some(format!("{difference}, {}", now(&end))),
    })))
}

/// Whether the engine or an operator ended the run, regardless of its code.
fn is_ended_from_outside(journal: &[Entry], last: &Body) -> bool {
    let Some(error) = recorded_error(last) else {
        return matches!(last, Body::Terminated(_));
    };
    journal.iter().any(|entry| match &entry.record.body {
        Body::DeadlinePassed(_) => error.is(ErrorCode::DeadlineExceeded),
        Body::ForcedFailure(forced) => forced.location.is_none() && forced.error == *error,
        Body::CancelRequested(_) => error.is(ErrorCode::Cancelled),
        _ => false,
    })
}

/// The failure of the run, whether or not it could be rolled back.
fn recorded_error(last: &Body) -> Option<&Failure> {
    match last {
        Body::Failed(recorded) => Some(&recorded.error),
        Body::RollbackFailed(recorded) => Some(&recorded.error),
        _ => None,
    }
}

fn is_same_end(recorded: &Failure, end: &ReplayEnd) -> bool {
    match end {
        ReplayEnd::Failed(now) => {
            (&recorded.code, &recorded.name, &recorded.message)
                == (&now.code, &now.name, &now.message)
        }
        ReplayEnd::Unfinished => recorded.is(ErrorCode::NotDurable),
        ReplayEnd::Completed(_) => false,
    }
}

fn now(end: &ReplayEnd) -> String {
    match end {
        ReplayEnd::Completed(result) => format!("this code returns {result:?}"),
        ReplayEnd::Failed(failure) => format!("this code fails with {:?}", failure.message),
        ReplayEnd::Unfinished => "this code does not end".to_owned(),
    }
}

/// A runtime in which nothing happens, because a replay starts no work. It is not a
/// `VirtualRuntime`, which needs a tokio runtime.
struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

impl Runtime for Still {
    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn random(&self) -> u64 {
        0
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn spawn(&self, _: BoxFuture<'static, ()>) {}

    fn spawn_committer(&self, _: BoxFuture<'static, ()>, _: &dyn Store) {}
}
