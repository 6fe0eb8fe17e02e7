//! An engine behind a server: requests become calls of the workflow API, and responses what an
//! engine would return.

mod feed;
mod port;
mod tail;
mod views;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::Runtime;
use everstep_model::{ErrorCode, RunId};
use everstep_protocol::Problem;
use everstep_protocol::client::{Answer, Call, CallError, Connection, segment};
use serde::de::DeserializeOwned;

use crate::client::ServerError;

/// How much longer a long poll may take than the server holds it.
const LONG_POLL_MARGIN: Duration = Duration::from_secs(30);

/// Sends requests to a server.
#[derive(Clone)]
pub(super) struct HttpPort {
    pub(super) connection: Connection,
    pub(super) runtime: Arc<dyn Runtime>,
    /// How long the server holds a long poll.
    pub(super) wait: Duration,
}

impl fmt::Debug for HttpPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

impl HttpPort {
    async fn send(&self, call: Call) -> Result<Answer, ServerError> {
        self.connection.send(call).await.map_err(of_call)
    }

    async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, ServerError> {
        self.send(call).await?.json().map_err(of_call)
    }

    async fn get<T: DeserializeOwned>(&self, path: String) -> Result<T, ServerError> {
        self.call(Call::get(path)).await
    }

    async fn long_poll(&self, call: Call) -> Result<Answer, ServerError> {
        let timeout = self.wait.saturating_add(LONG_POLL_MARGIN);
        self.send(call.timeout(timeout)).await
    }
}

fn of_call(error: CallError) -> ServerError {
    match error {
        CallError::Problem(problem) => of_problem(problem),
        error => ServerError {
            code: ErrorCode::ServerUnreachable,
            message: error.to_string(),
        },
    }
}

fn of_problem(problem: Problem) -> ServerError {
    ServerError {
        code: problem.error_code().unwrap_or(ErrorCode::InvalidRequest),
        message: problem.detail,
    }
}

/// The path of a run.
fn at(run: &RunId) -> String {
    format!("workflows/{}", segment(run.as_str()))
}

/// Writes a duration for the API.
fn millis(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}
