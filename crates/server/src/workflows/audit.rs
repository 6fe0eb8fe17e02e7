//! A run as people look at it: why it is not moving, its timeline, its shape, and its journal as it is kept.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_machine::{shape as shape_of, timeline as timeline_of, to_json_lines, to_mermaid};
use everstep_model::entry_to_json;
use everstep_protocol::workflow::WhyView;

use super::bulk::LINES;
use super::call::{Call, answer, typed};
use crate::failure::Failure;

/// The text that Mermaid draws.
pub(crate) const MERMAID: &str = "text/vnd.mermaid";

pub(crate) async fn why(call: Call) -> Result<Response, Failure> {
    let why = call.engine().why(&call.run()?).await?;
    let view = WhyView {
        status: why.status,
        sentence: why.to_string(),
        reasons: why.reasons,
        deadline: why.deadline,
    };
    answer(StatusCode::OK, &view)
}

pub(crate) async fn timeline(call: Call) -> Result<Response, Failure> {
    let lines = timeline_of(&call.engine().journal(&call.run()?).await?);
    match call.prefers(LINES) {
        true => Ok(typed(StatusCode::OK, LINES, to_json_lines(&lines))),
        false => answer(StatusCode::OK, &lines),
    }
}

pub(crate) async fn shape(call: Call) -> Result<Response, Failure> {
    let shape = shape_of(&call.engine().journal(&call.run()?).await?);
    match call.prefers("application/json") {
        true => answer(StatusCode::OK, &shape),
        false => Ok(typed(StatusCode::OK, MERMAID, to_mermaid(&shape))),
    }
}

/// Every record with every field, for tests that replay it: nothing is withheld.
pub(crate) async fn journal(call: Call) -> Result<Response, Failure> {
    let journal = call.engine().journal(&call.run()?).await?;
    let mut lines = String::new();
    for entry in &journal {
        let line = entry_to_json(entry).map_err(|error| {
            let broken = StatusCode::INTERNAL_SERVER_ERROR;
            Failure::new(
                broken,
                format!("record {} is damaged: {error}", entry.number),
            )
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(typed(StatusCode::OK, LINES, lines))
}
