//! Requests that are repeated while the server is unreachable, for commands that wait.

use std::time::Duration;

use everstep_protocol::client::{Answer, Call, CallError};

use crate::context::Context;

/// The delay before the next attempt.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Sends a request until there is a response.
///
/// The request must not change anything, because the server may receive it more than once.
pub(crate) async fn send(context: &Context, call: &Call) -> Result<Answer, CallError> {
    retry(context, async || context.server.send(call.clone()).await).await
}

/// Repeats requests until there is a response. Reports the loss of the connection and its return.
pub(crate) async fn retry<T>(
    context: &Context,
    attempt: impl AsyncFn() -> Result<T, CallError>,
) -> Result<T, CallError> {
    let mut is_lost = false;
    loop {
        match attempt().await {
            Err(error) if error.is_temporary() => {
                if !is_lost {
                    let text = format!("connection lost, retrying: {error}");
                    context.out.notice(&text);
                }
                is_lost = true;
                tokio::time::sleep(RETRY_DELAY).await;
            }
            result => {
                if is_lost {
                    context.out.notice("connected again");
                }
                return result;
            }
        }
    }
}
