//! The error of requests, whether the engine is in this process or behind a server.
//!
//! The engine has one error per operation. A server reports only a code and a message, so callers get
//! the union of all of them.

use everstep_engine::{
    AnswerError, CodedError, ControlError, ReadError, SendError, StartError, Unavailable,
};
use everstep_model::{
    ErrorCode, Failure, Generation, InvalidName, InvalidRunId, Location, Name, PayloadError, RunId,
    RunStatus,
};
use everstep_store::StoreError;

/// Why a request had no effect. If the store failed, the effect is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the fields")]
pub enum EngineError {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A run id is invalid.
    #[error(transparent)]
    RunId(#[from] InvalidRunId),
    /// A payload is too large or cannot be serialized.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Options contradict each other or are out of range.
    #[error("{0}")]
    Options(String),
    /// No worker offers the workflow.
    #[error("no workflow named `{0}` is registered here; register it or check the spelling")]
    UnknownWorkflow(String),
    /// The run does not exist.
    #[error("no run with id `{0}` exists")]
    UnknownRun(RunId),
    /// The strict form of start found the id taken.
    #[error(
        "a run with id `{0}` exists already; choose another id, or start without `strict` to get that run"
    )]
    RunExists(RunId),
    /// The id of a fork belongs to another run.
    #[error(
        "run `{0}` exists already and is another one than this fork would be: it began otherwise, at another place, or with \
         another result; choose another id"
    )]
    OtherFork(RunId),
    /// The id belongs to a run of another workflow.
    #[error("run `{run}` is a run of workflow `{workflow}`, not of `{asked}`; choose another id")]
    OtherWorkflow {
        run: RunId,
        workflow: Name,
        asked: Name,
    },
    /// The run has ended.
    #[error("run `{run}` is over ({status}) and takes nothing more")]
    RunFinished { run: RunId, status: RunStatus },
    /// The request names a generation of the run that is not the current one.
    #[error(
        "this is meant for generation {meant} of run `{run}`, which is over: the run lives its generation {latest}"
    )]
    OtherGeneration {
        run: RunId,
        meant: Generation,
        latest: Generation,
    },
    /// The run has no such operation.
    #[error(
        "run `{run}` has no operation `{location}`; its journal and its timeline name those it has"
    )]
    UnknownOperation { run: RunId, location: Location },
    /// The request is impossible in the current state of the run.
    #[error("this cannot be done with run `{run}`: {detail}")]
    WrongState { run: RunId, detail: String },
    /// The workflow does not accept the event.
    #[error("workflow `{workflow}` does not accept event `{event}`; it accepts: {accepted}")]
    EventNotAccepted {
        workflow: String,
        event: String,
        accepted: String,
    },
    /// The run has too many unconsumed events.
    #[error(
        "run `{run}` holds {count} events that it has not consumed, the limit; send again when it has"
    )]
    TooManyEvents { run: RunId, count: u64 },
    /// The rpc cannot be answered.
    #[error(
        "rpc `{rpc}` of run `{run}` is not open: it was answered, gave up waiting, or never existed"
    )]
    RpcNotOpen { run: RunId, rpc: String },
    /// A payload does not match its schema.
    #[error("{what} does not match its schema: {detail}")]
    Schema { what: String, detail: String },
    /// The engine is shutting down.
    #[error("the engine is shutting down and takes nothing new")]
    ShuttingDown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A server rejected the request or did not respond.
    #[error("{message}")]
    Remote {
        /// The stable code of the error.
        code: ErrorCode,
        /// The message of the server.
        message: String,
    },
    /// The journal is damaged.
    #[error("the journal of run `{run}` cannot be read: {detail}")]
    Journal { run: RunId, detail: String },
}

/// The outcome of a bulk request for each run.
pub type BulkReport = everstep_engine::BulkReport<EngineError>;

impl EngineError {
    /// The stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Name(_) => ErrorCode::InvalidName,
            Self::RunId(_) => ErrorCode::InvalidRunId,
            Self::Payload(error) => error.code(),
            Self::Options(_) => ErrorCode::InvalidOptions,
            Self::UnknownWorkflow(_) => ErrorCode::UnknownWorkflow,
            Self::UnknownRun(_) => ErrorCode::UnknownRun,
            Self::RunExists(_) | Self::OtherFork(_) | Self::OtherWorkflow { .. } => {
                ErrorCode::RunExists
            }
            Self::RunFinished { .. } | Self::OtherGeneration { .. } => ErrorCode::RunFinished,
            Self::UnknownOperation { .. } => ErrorCode::UnknownOperation,
            Self::WrongState { .. } => ErrorCode::WrongState,
            Self::EventNotAccepted { .. } => ErrorCode::EventNotAccepted,
            Self::TooManyEvents { .. } => ErrorCode::TooManyEvents,
            Self::RpcNotOpen { .. } => ErrorCode::RpcNotOpen,
            Self::Schema { .. } => ErrorCode::SchemaMismatch,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Store(error) => error.code(),
            Self::Remote { code, .. } => *code,
            Self::Journal { .. } => ErrorCode::StoreCorrupt,
        }
    }

    /// The error as an error object.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure::new(self.code(), self.to_string())
    }

    /// The final status of the run, if the request failed because the run has ended.
    #[must_use]
    pub fn finished_as(&self) -> Option<RunStatus> {
        match self {
            Self::RunFinished { status, .. } => Some(*status),
            _ => None,
        }
    }
}

impl From<Unavailable> for EngineError {
    fn from(error: Unavailable) -> Self {
        match error {
            Unavailable::ShuttingDown => Self::ShuttingDown,
            Unavailable::Store(error) => Self::Store(error),
        }
    }
}

impl From<ReadError> for EngineError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::UnknownRun(error) => Self::UnknownRun(error.0),
            ReadError::Unavailable(error) => error.into(),
        }
    }
}

impl From<StartError> for EngineError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Unavailable(error) => error.into(),
            StartError::Options(error) => Self::Options(error.0),
            StartError::RunId(error) => Self::RunId(error),
            StartError::Payload(error) => Self::Payload(error),
            StartError::UnknownWorkflow(error) => Self::UnknownWorkflow(error.0),
            StartError::Schema(error) => error.into(),
            StartError::Exists(error) => Self::RunExists(error.0),
            StartError::OtherWorkflow(error) => Self::OtherWorkflow {
                run: error.run,
                workflow: error.workflow,
                asked: error.asked,
            },
            StartError::UnknownRun(error) => Self::UnknownRun(error.0),
        }
    }
}

impl From<SendError> for EngineError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Unavailable(error) => error.into(),
            SendError::Options(error) => Self::Options(error.0),
            SendError::Payload(error) => Self::Payload(error),
            SendError::UnknownRun(error) => Self::UnknownRun(error.0),
            SendError::OtherGeneration(error) => error.into(),
            SendError::Finished(error) => Self::RunFinished {
                run: error.run,
                status: error.status,
            },
            SendError::NotAccepted(error) => Self::EventNotAccepted {
                workflow: error.workflow,
                event: error.event,
                accepted: error.accepted,
            },
            SendError::Schema(error) => error.into(),
            SendError::TooManyEvents(error) => Self::TooManyEvents {
                run: error.run,
                count: error.count,
            },
        }
    }
}

impl From<AnswerError> for EngineError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Unavailable(error) => error.into(),
            AnswerError::Options(error) => Self::Options(error.0),
            AnswerError::Payload(error) => Self::Payload(error),
            AnswerError::UnknownRun(error) => Self::UnknownRun(error.0),
            AnswerError::OtherGeneration(error) => error.into(),
            AnswerError::NotOpen(error) => Self::RpcNotOpen {
                run: error.run,
                rpc: error.rpc,
            },
            AnswerError::Schema(error) => error.into(),
        }
    }
}

impl From<ControlError> for EngineError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Unavailable(error) => error.into(),
            ControlError::Options(error) => Self::Options(error.0),
            ControlError::RunId(error) => Self::RunId(error),
            ControlError::Payload(error) => Self::Payload(error),
            ControlError::UnknownRun(error) => Self::UnknownRun(error.0),
            ControlError::UnknownOperation(error) => Self::UnknownOperation {
                run: error.run,
                location: error.location,
            },
            ControlError::WrongState(error) => Self::WrongState {
                run: error.run,
                detail: error.detail,
            },
            ControlError::OtherFork(error) => Self::OtherFork(error.0),
            ControlError::Journal(error) => Self::Journal {
                run: error.run,
                detail: error.detail,
            },
        }
    }
}

impl From<everstep_engine::SchemaMismatch> for EngineError {
    fn from(error: everstep_engine::SchemaMismatch) -> Self {
        Self::Schema {
            what: error.what,
            detail: error.detail,
        }
    }
}

impl From<everstep_engine::OtherGeneration> for EngineError {
    fn from(error: everstep_engine::OtherGeneration) -> Self {
        Self::OtherGeneration {
            run: error.run,
            meant: error.meant,
            latest: error.latest,
        }
    }
}
