//! `POST /workflows/{id}/events/{name}` sends an event, and optionally waits for the reply.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{SendEvent, Sent};
use everstep_model::{ErrorCode, Name};
use everstep_protocol::workflow::{EventAnswer, EventOutcome};

use super::call::{Call, respond};
use crate::failure::Failure;
use crate::parameters::{Kind, Parameter};

/// The header with the deduplication id of an event or answer.
pub(super) const DEDUP_ID: &str = "idempotency-key";

pub(crate) const PARAMETERS: &[Parameter] = &[Parameter {
    name: "reply",
    about: "Wait for the run's reply to the event, up to this duration, such as `30s`.",
    kind: Kind::Duration,
}];

pub(crate) async fn send(call: Call) -> Result<Response, Failure> {
    let run = call.run()?;
    let name = Name::new(call.path_parameter("name"))?;
    let timeout = call.parameters(PARAMETERS)?.duration("reply")?;
    let dedup_id = call.header(DEDUP_ID)?.map(str::to_owned);
    let event = SendEvent {
        run,
        name,
        payload: call.payload()?,
        dedup_id,
        by: call.by(),
        generation: call.generation(),
    };
    let Some(timeout) = timeout else {
        let sent = call.engine().send(event).await?;
        return respond(StatusCode::ACCEPTED, &outcome(sent));
    };
    // Acquired first: a request that is rejected as too many has not sent its event.
    let permit = call.wait_permit()?;
    let question = call.engine().ask(event).await?;
    let mut sent = outcome(question.sent());
    let replied = call.wait_with(permit, timeout, question.answer());
    match replied.await {
        Some(Ok(Some(reply))) => {
            sent.reply = Some(reply);
            respond(StatusCode::OK, &sent)
        }
        Some(Ok(None)) => Err(Failure::new(
            StatusCode::CONFLICT,
            "the event was accepted, and the run ended without a reply to it",
        )
        .coded(ErrorCode::NoReply)),
        Some(Err(error)) => Err(error.into()),
        None => respond(StatusCode::ACCEPTED, &sent),
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
