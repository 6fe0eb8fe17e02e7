//! `POST /workflows/{id}/rpc/{rpc}`: a question of a run is answered.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{Answer, Answered, Engine, EngineError};
use everstep_model::{Body, RpcId, RunId};
use everstep_protocol::workflow::{AnswerAccepted, EventOutcome};

use super::call::{Call, answer as reply};
use super::event::DEDUP_ID;
use crate::failure::Failure;

pub(crate) async fn answer(call: Call) -> Result<Response, Failure> {
    let run = call.run()?;
    let rpc = RpcId(call.named("rpc").into());
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
        Err(error @ EngineError::RpcNotOpen { .. }) => {
            let failure = Failure::from(error);
            return Err(match was_asked(call.engine(), &run, &rpc).await? {
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
    reply(StatusCode::OK, &AnswerAccepted { outcome, number })
}

/// Whether the run ever asked this.
async fn was_asked(engine: &Engine, run: &RunId, rpc: &RpcId) -> Result<bool, Failure> {
    let journal = engine.journal(run).await?;
    Ok(journal.iter().any(|entry| match &entry.record.body {
        Body::RpcRequested(asked) => asked.rpc_id == *rpc,
        _ => false,
    }))
}
