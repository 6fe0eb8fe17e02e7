//! What callers of the engine can get instead of an answer.

use everstep_model::{
    ErrorCode, Failure, Generation, InvalidName, InvalidRunId, Location, Name, PayloadError, RunId,
};
use everstep_store::{Outcome, Refusal, StoreError};

/// Why a request to the engine had no effect, or an unknown one where the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A name breaks the rules.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A run id breaks the rules.
    #[error(transparent)]
    RunId(#[from] InvalidRunId),
    /// A payload is too large or cannot be written.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Options contradict each other or are out of range.
    #[error("{0}")]
    Options(String),
    /// No workflow of that name.
    #[error("no workflow named `{0}` is registered here; register it or check the spelling")]
    UnknownWorkflow(String),
    /// No such run.
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
        /// The run.
        run: RunId,
        /// Its workflow.
        workflow: Name,
        /// The workflow that was asked for.
        asked: Name,
    },
    /// The run is over.
    #[error("run `{run}` is over ({status}) and takes nothing more")]
    RunFinished {
        /// The run.
        run: RunId,
        /// How it ended.
        status: everstep_model::RunStatus,
    },
    /// It was meant for another life of the run than the one it lives.
    #[error(
        "this is meant for generation {meant} of run `{run}`, which is over: the run lives its generation {latest}"
    )]
    OtherGeneration {
        /// The run.
        run: RunId,
        /// The generation that was meant.
        meant: Generation,
        /// The generation it lives.
        latest: Generation,
    },
    /// The run has no such operation.
    #[error(
        "run `{run}` has no operation `{location}`; its journal and its timeline name those it has"
    )]
    UnknownOperation {
        /// The run.
        run: RunId,
        /// The place.
        location: Location,
    },
    /// The run is in a state in which this cannot be done.
    #[error("this cannot be done with run `{run}`: {detail}")]
    WrongState {
        /// The run.
        run: RunId,
        /// Why.
        detail: String,
    },
    /// The workflow does not accept that event.
    #[error("workflow `{workflow}` does not accept event `{event}`; it accepts: {accepted}")]
    EventNotAccepted {
        /// The workflow.
        workflow: String,
        /// The event.
        event: String,
        /// What it accepts.
        accepted: String,
    },
    /// Too many unconsumed events.
    #[error(
        "run `{run}` holds {count} events that it has not consumed, the limit; send again when it has"
    )]
    TooManyEvents {
        /// The run.
        run: RunId,
        /// How many.
        count: u64,
    },
    /// The rpc cannot be answered any more, or never could.
    #[error(
        "rpc `{rpc}` of run `{run}` is not open: it was answered, gave up waiting, or never existed"
    )]
    RpcNotOpen {
        /// The run.
        run: RunId,
        /// The rpc.
        rpc: String,
    },
    /// A payload does not match its schema.
    #[error("{what} does not match its schema: {detail}")]
    Schema {
        /// What was checked.
        what: String,
        /// What does not match.
        detail: String,
    },
    /// The engine is shutting down.
    #[error("the engine is shutting down and takes nothing new")]
    ShuttingDown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine is behind a server, which said no, or did not answer.
    #[error("{message}")]
    Remote {
        /// The permanent word for it.
        code: ErrorCode,
        /// What the server said.
        message: String,
    },
    /// The journal could not be read as one.
    #[error("the journal of run `{run}` cannot be read: {detail}")]
    Journal {
        /// The run.
        run: RunId,
        /// Why.
        detail: String,
    },
}

impl EngineError {
    /// Its stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Name(_) => ErrorCode::InvalidName,
            Self::RunId(_) => ErrorCode::InvalidRunId,
            Self::Payload(PayloadError::TooLarge { .. }) => ErrorCode::PayloadTooLarge,
            Self::Payload(PayloadError::Unserializable(_)) => ErrorCode::Unserializable,
            Self::Payload(PayloadError::Undecodable(_)) => ErrorCode::Undecodable,
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

    /// As the error object.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure::new(self.code(), self.to_string())
    }
}

/// A run that cannot be read is an error to whoever asked for something; every other outcome is for them to judge.
pub(crate) fn readable(outcome: Outcome) -> Result<Outcome, StoreError> {
    match outcome {
        Outcome::Refused(Refusal::Unreadable(error)) => Err(error),
        outcome => Ok(outcome),
    }
}
