//! `POST /workflows/{id}/steps/{step}/{verb}`: control of one operation of a run. Its id is its
//! location, with each slash encoded as `%2F`.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::Settlement;
use everstep_protocol::workflow::{ControlRequest, SettleRequest};

use super::call::{Call, location, respond};
use super::control::outcome;
use crate::failure::Failure;

/// The error message of an operation that an operator makes fail without a reason.
const NO_REASON: &str = "an operator made it fail";

pub(crate) async fn skip(call: Call) -> Result<Response, Failure> {
    let request: SettleRequest = call.request()?;
    settle(call, Settlement::Skip(request.result), request.reason).await
}

pub(crate) async fn edit(call: Call) -> Result<Response, Failure> {
    let request: SettleRequest = call.request()?;
    settle(call, Settlement::Edit(request.result), request.reason).await
}

pub(crate) async fn fail(call: Call) -> Result<Response, Failure> {
    let request: ControlRequest = call.request()?;
    let message = request
        .reason
        .clone()
        .unwrap_or_else(|| NO_REASON.to_owned());
    settle(call, Settlement::Fail(message), request.reason).await
}

async fn settle(
    call: Call,
    settlement: Settlement,
    reason: Option<String>,
) -> Result<Response, Failure> {
    let (run, at) = (call.run()?, location(call.path_parameter("step"))?);
    let origin = call.origin(reason);
    let done = call.engine().settle(&run, &at, settlement, origin).await?;
    respond(StatusCode::OK, &outcome(&done))
}
