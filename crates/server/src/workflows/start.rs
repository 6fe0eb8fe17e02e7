//! `POST /workflows` starts a run, or returns the existing one.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::Start;
use everstep_model::Name;
use everstep_protocol::workflow::{StartAnswer, StartRequest};

use super::call::Call;
use crate::auth::unreached;
use crate::failure::Failure;
use crate::json::respond;
use crate::parameters::duration;

pub(crate) async fn start(call: Call) -> Result<Response, Failure> {
    let request: StartRequest = call.request()?;
    let workflow = Name::new(&request.workflow)?;
    if !call.caller.limits().reaches_workflow(workflow.as_str()) {
        return Err(unreached("workflow"));
    }
    let deadline = request.deadline.as_deref();
    let deadline = deadline.map(|text| duration("deadline", text));
    let start = Start {
        id: call.new_id(request.id.as_deref())?,
        tags: request.tags,
        idempotency_key: request.idempotency_key,
        deadline: deadline.transpose()?,
        execution_retries: request.execution_retries,
        strict: request.strict,
        by: call.by.clone(),
        trace: call.trace(),
        ..Start::new(workflow, request.input)
    };
    let started = call.engine().start(start).await?;
    // An idempotency key may belong to a run beyond the limits.
    if !call.caller.limits().reaches_id(started.run.as_str()) {
        return Err(unreached("run"));
    }
    let row = call.engine().row(&started.run).await?;
    let status = match started.created {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let answer = StartAnswer {
        stream: call.stream(&started.run, started.generation),
        id: started.run,
        workflow: started.workflow,
        generation: started.generation.0,
        status: row.status,
        created: started.created,
    };
    Ok(respond(status, &answer))
}
