//! `POST /workflows/{id}/events/{name}` sends an event and optionally waits for the reply;
//! `POST /workflows/{id}/rpc/{rpc}` answers an rpc.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{Answer, AnswerError, Answered, Engine, SendEvent, Sent};
use everstep_model::{Body, ErrorCode, Name, RpcId, RunId};
use everstep_protocol::workflow::{AnswerAccepted, EventAnswer, EventOutcome};

use super::call::Call;
use crate::failure::Failure;
use crate::json::respond;
use crate::parameters::{Parameter, parameters};

pub(crate) const SEND_PARAMETERS: &[Parameter] = parameters! {
    "reply": Duration, "Wait for the run's reply to the event, up to this duration, such as `30s`.";
};

pub(crate) async fn send(call: Call) -> Result<Response, Failure> {
    let run = call.run()?;
    let name = Name::new(call.path_parameter("name"))?;
    let timeout = call.parameters(SEND_PARAMETERS)?.duration("reply")?;
    let event = SendEvent {
        run,
        name,
        dedup_id: dedup_id(&call)?,
        payload: call.payload()?,
        by: call.by.clone(),
        generation: call.generation,
    };
    let Some(timeout) = timeout else {
        let sent = call.engine().send(event).await?;
        return Ok(respond(StatusCode::ACCEPTED, &event_answer(sent)));
    };
    // Acquired first: a request that is rejected as too many has not sent its event.
    let permit = call.wait_permit()?;
    let question = call.engine().ask(event).await?;
    let mut sent = event_answer(question.sent());
    let replied = call.wait_with(permit, timeout, question.answer());
    match replied.await.transpose()? {
        Some(Some(reply)) => {
            sent.reply = Some(reply);
            Ok(respond(StatusCode::OK, &sent))
        }
        Some(None) => Err(Failure::conflict(
            ErrorCode::NoReply,
            "the event was accepted, and the run ended without a reply to it",
        )),
        None => Ok(respond(StatusCode::ACCEPTED, &sent)),
    }
}

fn event_answer(sent: Sent) -> EventAnswer {
    let (outcome, number) = match sent {
        Sent::Accepted(number) => (EventOutcome::Accepted, number),
        Sent::Duplicate(number) => (EventOutcome::Duplicate, number),
    };
    EventAnswer {
        outcome,
        number: number.0,
        reply: None,
    }
}

pub(crate) async fn answer(call: Call) -> Result<Response, Failure> {
    let run = call.run()?;
    let rpc = RpcId(call.path_parameter("rpc").into());
    let given = Answer {
        run: run.clone(),
        rpc: rpc.clone(),
        dedup_id: dedup_id(&call)?,
        answer: call.payload()?,
        by: call.by.clone(),
        generation: call.generation,
    };
    let (outcome, number) = match call.engine().answer(given).await {
        Ok(Answered::Accepted(number)) => (EventOutcome::Accepted, number),
        Ok(Answered::Duplicate(number)) => (EventOutcome::Duplicate, number),
        Err(error @ AnswerError::NotOpen(_)) => {
            let failure = Failure::from(error);
            return Err(match was_requested(call.engine(), &run, &rpc).await? {
                true => failure,
                false => failure.with_status(StatusCode::NOT_FOUND),
            });
        }
        Err(error) => return Err(error.into()),
    };
    let number = number.0;
    Ok(respond(StatusCode::OK, &AnswerAccepted { outcome, number }))
}

/// Returns whether the run ever requested this rpc.
async fn was_requested(engine: &Engine, run: &RunId, rpc: &RpcId) -> Result<bool, Failure> {
    let is_it = |body: &Body| matches!(body, Body::RpcRequested(it) if it.rpc_id == *rpc);
    Ok(engine.find_record(run, is_it).await?.is_some())
}

/// Returns the sender's id of an event or answer.
fn dedup_id(call: &Call) -> Result<Option<String>, Failure> {
    Ok(call.header("idempotency-key")?.map(str::to_owned))
}
