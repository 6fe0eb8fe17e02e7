//! `POST /workflows` starts a run, or returns the existing one.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::Start;
use everstep_model::Name;
use everstep_protocol::workflow::{StartAnswer, StartRequest};

use super::call::{Call, respond, run_id};
use crate::failure::Failure;
use crate::parameters::duration;

pub(crate) async fn start(call: Call) -> Result<Response, Failure> {
    let request: StartRequest = call.request()?;
    let workflow = Name::new(&request.workflow)?;
    let deadline = request.deadline.as_deref();
    let started = call
        .engine()
        .start(Start {
            id: request.id.as_deref().map(run_id).transpose()?,
            tags: request.tags,
            idempotency_key: request.idempotency_key,
            deadline: deadline
                .map(|text| duration("deadline", text))
                .transpose()?,
            execution_retries: request.execution_retries,
            strict: request.strict,
            by: call.by(),
            trace: call.trace(),
            ..Start::new(workflow, request.input)
        })
        .await?;
    let row = call.engine().row(&started.run).await?;
    let status = match started.created {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let stream = call.stream(&started.run, started.generation);
    respond(
        status,
        &StartAnswer {
            id: started.run,
            workflow: started.workflow,
            generation: started.generation.0,
            status: row.status,
            created: started.created,
            stream,
        },
    )
}
