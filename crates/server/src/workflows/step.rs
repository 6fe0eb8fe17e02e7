//! `POST /workflows/{id}/steps/{step}/{verb}`: what operators do with one operation of a run. Its id is its place, with each
//! slash written as `%2F`.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::Settlement;
use everstep_protocol::workflow::{ControlRequest, SettleRequest};

use super::call::{Call, answer, location};
use super::control::told;
use crate::failure::Failure;

/// What is said of an operation that is made to fail for no reason given.
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
    let (run, at) = (call.run()?, location(call.named("step"))?);
    let asked = call.asked(reason);
    let done = call.engine().settle(&run, &at, settlement, asked).await?;
    answer(StatusCode::OK, &told(&done))
}
