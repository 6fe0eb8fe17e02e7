//! `POST /workflows` starts a run, or returns the existing one. `POST /batch` starts many.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{RunExists, Start, StartError};
use everstep_model::Name;
use everstep_protocol::workflow::{
    BatchStart, STARTS_MAX, StartAnswer, StartBatch, StartBatchAnswer, StartRequest,
};
use futures_util::future::join_all;

use super::call::Call;
use crate::auth::unreached;
use crate::failure::Failure;
use crate::json::respond;
use crate::parameters::duration;

pub(crate) async fn start(call: Call) -> Result<Response, Failure> {
    let started = start_one(&call, call.request()?).await?;
    let status = match started.created {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok(respond(status, &started))
}

/// Starts many runs concurrently. A start that is refused does not affect the others.
pub(crate) async fn start_batch(call: Call) -> Result<Response, Failure> {
    let StartBatch { runs } = call.request()?;
    if runs.len() > STARTS_MAX {
        let detail = format!("a batch has at most {STARTS_MAX} runs");
        return Err(Failure::invalid(detail));
    }
    let runs = runs.into_iter().map(|request| async {
        let (started, problem) = match start_one(&call, request).await {
            Ok(started) => (Some(started), None),
            Err(failure) => (None, Some(failure.problem())),
        };
        BatchStart { started, problem }
    });
    let runs = join_all(runs).await;
    Ok(respond(StatusCode::OK, &StartBatchAnswer { runs }))
}

async fn start_one(call: &Call, request: StartRequest) -> Result<StartAnswer, Failure> {
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
    let started = match call.engine().start(start).await {
        Ok(started) => started,
        Err(error) => return Err(refusal(call, error).await),
    };
    // An idempotency key may belong to a run beyond the limits.
    if !call.caller.limits().reaches_id(started.run.as_str()) {
        return Err(unreached("run"));
    }
    let row = call.engine().row(&started.run).await?;
    Ok(StartAnswer {
        stream: call.stream(&started.run, started.generation),
        id: started.run,
        workflow: started.workflow,
        generation: started.generation.0,
        status: row.status,
        created: started.created,
    })
}

/// Returns the failure of a start. It does not describe a run beyond the limits of the caller.
async fn refusal(call: &Call, error: StartError) -> Failure {
    let existing = match &error {
        StartError::Exists(RunExists(run)) => Some(run),
        StartError::OtherWorkflow(other) => Some(&other.run),
        _ => None,
    };
    if let Some(run) = existing
        && let Err(unreached) = call.check_reach(run).await
    {
        return unreached;
    }
    error.into()
}
