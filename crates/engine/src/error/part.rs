//! The parts of errors, each with one code.
#![allow(missing_docs, reason = "the messages explain the fields")]

use everstep_model::{ErrorCode, Generation, InvalidName, InvalidRunId, Location, Name};
use everstep_model::{PayloadError, RunId, RunStatus};
use everstep_store::StoreError;

use super::CodedError;

/// The engine cannot serve requests now.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unavailable {
    #[error("the engine is shutting down and accepts no requests")]
    ShuttingDown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The run does not exist.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no run with id `{0}` exists")]
pub struct UnknownRun(pub RunId);

/// The run has no such generation.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` has no generation {generation}")]
pub struct UnknownGeneration {
    pub run: RunId,
    pub generation: Generation,
}

/// Options contradict each other or are out of range.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOptions(pub String);

/// The request names a generation of the run that is not the current one.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the request is for generation {meant} of run `{run}`, which has ended; the current generation is {latest}"
)]
pub struct OtherGeneration {
    pub run: RunId,
    pub meant: Generation,
    pub latest: Generation,
}

/// A payload does not match its schema.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{what} does not match its schema: {detail}{}", after_semicolon(.example))]
pub struct SchemaMismatch {
    pub what: String,
    pub detail: String,
    /// A value that matches.
    pub example: Option<String>,
}

fn after_semicolon(example: &Option<String>) -> String {
    let text = |example| format!("; an example is {example}");
    example.as_ref().map(text).unwrap_or_default()
}

/// The id belongs to a run of another workflow.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` is a run of workflow `{workflow}`, not of `{asked}`; choose another id")]
pub struct OtherWorkflow {
    pub run: RunId,
    pub workflow: Name,
    pub asked: Name,
}

/// The journal of a run is damaged.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the journal of run `{run}` cannot be read: {detail}")]
pub struct UnreadableJournal {
    pub run: RunId,
    pub detail: String,
}

/// The journal of a run is too large for the memory of this node.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the journal of run `{run}` is larger than the {bytes_max} bytes that this node reads into memory (setting \
     `journal_bytes_max`)"
)]
pub struct JournalTooLarge {
    pub run: RunId,
    pub bytes_max: u64,
}

/// No worker offers the workflow.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no workflow named `{0}` is registered here; register it or check the spelling")]
pub struct UnknownWorkflow(pub String);

/// The strict form of start found the id taken.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "a run with id `{0}` exists already; choose another id, or start without `strict` to get that run"
)]
pub struct RunExists(pub RunId);

/// The run has ended.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` has ended ({status}) and accepts nothing more")]
pub struct RunFinished {
    pub run: RunId,
    pub status: RunStatus,
}

/// The workflow does not accept the event.
#[derive(Clone, Debug, thiserror::Error)]
#[error("workflow `{workflow}` does not accept event `{event}`; {}", self.advice())]
pub struct EventNotAccepted {
    pub run: RunId,
    pub workflow: String,
    pub event: String,
    /// The names of the events that it accepts.
    pub accepted: Vec<String>,
    /// Whether the workflow makes an rpc of this name, which takes an answer instead.
    pub is_rpc: bool,
}

impl EventNotAccepted {
    fn advice(&self) -> String {
        let accepted = match self.accepted.as_slice() {
            [] => "it accepts no events".to_owned(),
            accepted => format!("it accepts: {}", accepted.join(", ")),
        };
        let Self { run, event, .. } = self;
        match self.is_rpc {
            true => {
                format!("it asks this as an rpc: everstep answer {run} {event} JSON; {accepted}")
            }
            false => accepted,
        }
    }
}

/// The run has too many unconsumed events.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "run `{run}` has {count} unconsumed events; the limit for an event of this size is {limit}; send again when it has consumed some"
)]
pub struct TooManyEvents {
    pub run: RunId,
    pub count: u64,
    /// The maximum number of unconsumed events for an event of this size.
    pub limit: u64,
}

/// The rpc cannot be answered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("rpc `{rpc}` of run `{run}` is not open: it was answered, has timed out, or never existed")]
pub struct RpcNotOpen {
    pub run: RunId,
    pub rpc: String,
}

/// The run has no such operation.
#[derive(Clone, Debug, thiserror::Error)]
#[error("run `{run}` has no operation `{location}`; its timeline lists its operations")]
pub struct UnknownOperation {
    pub run: RunId,
    pub location: Location,
}

/// The request is impossible in the current state of the run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("not possible in the current state of run `{run}`: {detail}")]
pub struct WrongState {
    pub run: RunId,
    pub detail: String,
}

/// The id of a fork belongs to another run.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "run `{0}` exists and is not this fork: it has another origin, fork point or edited result; choose another id"
)]
pub struct OtherFork(pub RunId);

/// The codes of errors that always have the same code.
macro_rules! codes {
    ($($error:ident => $code:ident,)*) => {
        $(
            impl CodedError for $error {
                fn code(&self) -> ErrorCode {
                    ErrorCode::$code
                }
            }
        )*
    };
}

codes! {
    EventNotAccepted => EventNotAccepted,
    InvalidName => InvalidName,
    InvalidOptions => InvalidOptions,
    InvalidRunId => InvalidRunId,
    JournalTooLarge => JournalTooLarge,
    OtherFork => RunExists,
    OtherGeneration => RunFinished,
    OtherWorkflow => RunExists,
    RpcNotOpen => RpcNotOpen,
    RunExists => RunExists,
    RunFinished => RunFinished,
    SchemaMismatch => SchemaMismatch,
    TooManyEvents => TooManyEvents,
    UnknownGeneration => UnknownRun,
    UnknownOperation => UnknownOperation,
    UnknownRun => UnknownRun,
    UnknownWorkflow => UnknownWorkflow,
    UnreadableJournal => StoreCorrupt,
    WrongState => WrongState,
}

impl CodedError for Unavailable {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Store(error) => error.code(),
        }
    }
}

impl CodedError for PayloadError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::Unserializable(_) => ErrorCode::Unserializable,
            Self::Undecodable(_) => ErrorCode::Undecodable,
        }
    }
}
