//! `POST /workflows/{id}/events/{name}`: an event is sent, and its sender may wait for the reply.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{EngineError, SendEvent, Sent};
use everstep_model::{ErrorCode, Name};
use everstep_protocol::workflow::{EventAnswer, EventOutcome};

use super::call::{Call, answer};
use super::parameters::{Kind, Parameter};
use crate::failure::Failure;

/// The header under which a sender may send the same event again.
pub(super) const DEDUP_ID: &str = "idempotency-key";

pub(crate) const PARAMETERS: &[Parameter] = &[Parameter {
    name: "reply",
    about: "Hold the answer until the run replies to the event, but no longer than this, such as `30s`.",
    kind: Kind::Duration,
}];

pub(crate) async fn send(call: Call) -> Result<Response, Failure> {
    let run = call.run()?;
    let name = Name::new(call.named("name")).map_err(EngineError::from)?;
    let patience = call.parameters(PARAMETERS)?.duration("reply")?;
    let dedup_id = call.header(DEDUP_ID)?.map(str::to_owned);
    let event = SendEvent {
        run,
        name,
        payload: call.payload()?,
        dedup_id,
        by: call.by(),
        generation: call.generation(),
    };
    let Some(patience) = patience else {
        let sent = call.engine().send(event).await?;
        return answer(StatusCode::ACCEPTED, &outcome(sent));
    };
    // Taken first: who is told to come back has sent nothing.
    let place = call.place()?;
    let question = call.engine().ask(event).await?;
    let mut sent = outcome(question.sent());
    let replied = call.within_place(place, patience, question.answer());
    match replied.await {
        Some(Ok(Some(reply))) => {
            sent.reply = Some(reply);
            answer(StatusCode::OK, &sent)
        }
        Some(Ok(None)) => Err(Failure::new(
            StatusCode::CONFLICT,
            "the event was accepted, and the run ended without a reply to it",
        )
        .coded(ErrorCode::NoReply)),
        Some(Err(error)) => Err(error.into()),
        None => answer(StatusCode::ACCEPTED, &sent),
    }
}

fn outcome(sent: Sent) -> EventAnswer {
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
