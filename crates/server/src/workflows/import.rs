//! Imports a run: `PUT /workflows/{id}/journal` with the lines that `GET` returns.

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::ImportRun;
use everstep_model::{Entry, entry_from_json};

use super::bulk::JSON_LINES;
use super::call::{Call, WorkflowRoutes};
use super::control::outcome;
use super::control_message;
use crate::failure::Failure;
use crate::json;

/// A request whose body is a journal, which has a limit of its own.
pub(crate) struct ImportCall(Call);

impl FromRequest<WorkflowRoutes> for ImportCall {
    type Rejection = Failure;

    async fn from_request(request: Request, routes: &WorkflowRoutes) -> Result<Self, Failure> {
        let call = Call::read(request, routes, routes.import_limits).await?;
        Ok(Self(call))
    }
}

pub(crate) async fn import(ImportCall(call): ImportCall) -> Result<Response, Failure> {
    let (run, generation) = call.run_and_generation()?;
    let lines = call.lines(JSON_LINES)?;
    let numbered = lines.into_iter().zip(1..);
    let journal: Result<Vec<Entry>, Failure> = numbered
        .map(|(line, number)| {
            let entry = entry_from_json(line);
            entry.map_err(|error| Failure::invalid(format!("line {number}: {error}")))
        })
        .collect();
    let import = ImportRun {
        run,
        generation,
        journal: journal?,
    };
    let done = call.engine().import(import).await?;
    let message = control_message::of_import(&done);
    Ok(json::respond(StatusCode::CREATED, &outcome(&done, message)))
}
