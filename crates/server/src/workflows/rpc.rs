//! `POST /workflows/{id}/rpc/{rpc}` answers an rpc of a run.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{Answer, AnswerError, Answered, Engine};
use everstep_model::{Body, RpcId, RunId};
use everstep_protocol::workflow::{AnswerAccepted, EventOutcome};

use super::call::{Call, respond};
use super::event::DEDUP_ID;
use crate::failure::Failure;

pub(crate) async fn answer(call: Call) -> Result<Response, Failure> {
    let run = call.run()?;
    let rpc = RpcId(call.path_parameter("rpc").into());
    let dedup_id = call.header(DEDUP_ID)?.map(str::to_owned);
    let given = Answer {
        run: run.clone(),
        rpc: rpc.clone(),
        answer: call.payload()?,
        by: call.by(),
        dedup_id,
        generation: call.generation(),
    };
    let answered = match call.engine().answer(given).await {
        Err(error @ AnswerError::NotOpen(_)) => {
            let failure = Failure::from(error);
            return Err(match was_requested(call.engine(), &run, &rpc).await? {
                true => failure,
                false => failure.with_status(StatusCode::NOT_FOUND),
            });
        }
        answered => answered?,
    };
    let (outcome, number) = match answered {
        Answered::Accepted(number) => (EventOutcome::Accepted, number),
        Answered::Duplicate(number) => (EventOutcome::Duplicate, number),
    };
    let number = number.0;
    respond(StatusCode::OK, &AnswerAccepted { outcome, number })
}

/// Returns whether the run ever requested this rpc.
async fn was_requested(engine: &Engine, run: &RunId, rpc: &RpcId) -> Result<bool, Failure> {
    let journal = engine.journal(run).await?;
    Ok(journal.iter().any(|entry| match &entry.record.body {
        Body::RpcRequested(request) => request.rpc_id == *rpc,
        _ => false,
    }))
}
