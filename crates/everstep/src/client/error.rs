//! Errors of requests: one type per operation, whether the engine is in this process or behind a
//! server.

use std::time::Duration;

use everstep_engine::{CodedError, InvalidOptions, OtherWorkflow, Unavailable};
use everstep_model::{
    ErrorCode, Failure, InvalidName, InvalidRunId, PayloadError, RunId, RunStatus,
};

/// Why a request had no effect. If the store failed, or a server did not respond, the effect is
/// unknown.
///
/// `E` is the engine's error for this operation: see [`StartError`], [`SendError`] and so on. A
/// server reports only a code and a message, so compare [`code`](Self::code) to handle both cases:
///
/// ```
/// # async fn example(engine: everstep::Engine) -> Result<(), everstep::StartError> {
/// use everstep::{ErrorCode, Payload};
///
/// match engine.start_by_name("greet", Payload::null()).id("greet-ada").strict().await {
///     Err(error) if error.code() == ErrorCode::RunExists => println!("it runs already"),
///     started => println!("started {}", started?.id()),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError<E> {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A run id is invalid.
    #[error(transparent)]
    RunId(#[from] InvalidRunId),
    /// The engine rejected the request.
    #[error(transparent)]
    Rejected(E),
    /// A server rejected the request or did not respond.
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// The error that a server reported, or that it did not respond.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
#[allow(missing_docs, reason = "the names explain the fields")]
pub struct ServerError {
    pub code: ErrorCode,
    pub message: String,
}

impl CodedError for ServerError {
    fn code(&self) -> ErrorCode {
        self.code
    }
}

impl<E: CodedError> ClientError<E> {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Name(_) => ErrorCode::InvalidName,
            Self::RunId(_) => ErrorCode::InvalidRunId,
            Self::Rejected(error) => error.code(),
            Self::Server(error) => error.code,
        }
    }
}

impl<E: CodedError + 'static> ClientError<E> {
    /// Returns the error as an error object.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure::new(self.code(), self.to_string())
    }
}

/// Errors that the engine's errors contain.
macro_rules! rejected {
    ($($error:ty),*) => {
        $(impl<E: From<$error>> From<$error> for ClientError<E> {
            fn from(error: $error) -> Self {
                Self::Rejected(error.into())
            }
        })*
    };
}

rejected!(PayloadError, InvalidOptions, Unavailable);

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            pub type $name = ClientError<everstep_engine::$name>;

            impl From<everstep_engine::$name> for $name {
                fn from(error: everstep_engine::$name) -> Self {
                    Self::Rejected(error)
                }
            }
        )*

        /// Returns the code if this is the error of a request.
        pub(crate) fn code_of_request(error: &(dyn std::error::Error + 'static)) -> Option<ErrorCode> {
            None$(.or_else(|| Some(error.downcast_ref::<$name>()?.code())))*
        }
    };
}

operations! {
    /// Why a run was not started.
    StartError,
    /// Why an event was not accepted.
    SendError,
    /// Why an answer to an rpc was not accepted.
    AnswerError,
    /// Why a control request had no effect.
    ControlError,
    /// Why a run could not be read, or runs could not be listed.
    ReadError,
}

/// Requests that first look up their run.
macro_rules! after_reading {
    ($($name:ident),*) => {
        $(impl From<ReadError> for $name {
            fn from(error: ReadError) -> Self {
                match error {
                    ReadError::Name(error) => Self::Name(error),
                    ReadError::RunId(error) => Self::RunId(error),
                    ReadError::Rejected(error) => Self::Rejected(error.into()),
                    ReadError::Server(error) => Self::Server(error),
                }
            }
        })*
    };
}

after_reading!(StartError, SendError, AnswerError, ControlError);

impl SendError {
    /// Returns the final status of the run, if it has ended and therefore accepts no events.
    #[must_use]
    pub fn finished_as(&self) -> Option<RunStatus> {
        match self {
            Self::Rejected(everstep_engine::SendError::Finished(error)) => Some(error.status),
            Self::Name(_) | Self::RunId(_) | Self::Rejected(_) | Self::Server(_) => None,
        }
    }
}

/// Why a typed handle to a run was not created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The run could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The run has another workflow.
    #[error(transparent)]
    OtherWorkflow(#[from] OtherWorkflow),
}

impl FindError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Read(error) => error.code(),
            Self::OtherWorkflow(error) => error.code(),
        }
    }
}

/// Why waiting for a run gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum WaitError {
    #[error("the run failed: {0}")]
    Failed(Failure),
    #[error("the run was cancelled{}", after_colon(.0))]
    Cancelled(Option<String>),
    #[error("the run was terminated{}", after_colon(.0))]
    Terminated(Option<String>),
    #[error("the run failed: {error}; its rollback failed too: {rollback_error}")]
    RollbackFailed {
        error: Failure,
        rollback_error: Failure,
    },
    #[error("run `{run}` did not end within {timeout:?}; its status is {status}")]
    TimedOut {
        run: RunId,
        status: RunStatus,
        timeout: Duration,
    },
    #[error("the result of the run does not match its type: {0}")]
    Output(#[source] PayloadError),
    /// The run could not be started; only [`Client::start_and_wait`](crate::Client::start_and_wait)
    /// returns this.
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

fn after_colon(reason: &Option<String>) -> String {
    reason
        .as_ref()
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default()
}

impl WaitError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Failed(_) => ErrorCode::RunFailed,
            Self::Cancelled(_) => ErrorCode::RunCancelled,
            Self::Terminated(_) => ErrorCode::RunTerminated,
            Self::RollbackFailed { .. } => ErrorCode::RollbackFailed,
            Self::TimedOut { .. } => ErrorCode::WaitTimedOut,
            Self::Output(_) => ErrorCode::Undecodable,
            Self::Start(error) => error.code(),
            Self::Read(error) => error.code(),
        }
    }
}
