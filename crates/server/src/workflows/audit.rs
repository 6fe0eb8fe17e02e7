//! Inspection of a run: why it makes no progress, its timeline, its structure, and its journal.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use everstep_inspect::{shape as shape_of, timeline as timeline_of, to_json_lines, to_mermaid};
use everstep_model::{Entry, RecordNumber, entry_to_json};
use everstep_protocol::workflow::WhyView;
use futures_util::FutureExt;

use super::bulk::JSON_LINES;
use super::call::{Call, respond, respond_as};
use crate::failure::Failure;
use crate::parameters::{Kind, Parameter};

/// The media type of Mermaid diagrams.
pub(crate) const MERMAID: &str = "text/vnd.mermaid";

pub(crate) async fn why(call: Call) -> Result<Response, Failure> {
    let why = call.engine().why(&call.run()?).await?;
    let view = WhyView {
        status: why.status,
        sentence: why.to_string(),
        reasons: why.reasons,
        deadline: why.deadline,
    };
    respond(StatusCode::OK, &view)
}

const FROM: Parameter = Parameter {
    name: "from",
    about: "The number of the first record; 0 by default.",
    kind: Kind::Count(0, u32::MAX),
};

pub(crate) const TIMELINE_PARAMETERS: &[Parameter] = &[FROM];

pub(crate) async fn timeline(call: Call) -> Result<Response, Failure> {
    let from = call.parameters(TIMELINE_PARAMETERS)?.count(&FROM)?;
    let mut lines = timeline_of(&call.engine().journal(&call.run()?).await?);
    if let Some(from) = from {
        lines.retain(|line| line.number.0 >= from as u64);
    }
    match call.prefers(JSON_LINES) {
        true => Ok(respond_as(
            StatusCode::OK,
            JSON_LINES,
            to_json_lines(&lines),
        )),
        false => respond(StatusCode::OK, &lines),
    }
}

pub(crate) async fn shape(call: Call) -> Result<Response, Failure> {
    let shape = shape_of(&call.engine().journal(&call.run()?).await?);
    match call.prefers("application/json") {
        true => respond(StatusCode::OK, &shape),
        false => Ok(respond_as(StatusCode::OK, MERMAID, to_mermaid(&shape))),
    }
}

pub(crate) const JOURNAL_PARAMETERS: &[Parameter] = &[
    FROM,
    Parameter {
        name: "wait",
        about: "Wait for a record or the end of the run, up to this duration, such as `30s`.",
        kind: Kind::Duration,
    },
];

/// Set to `true` if the run has ended and the response contains its last records.
const CLOSED: HeaderName = HeaderName::from_static("stream-closed");

/// All records with all fields, for tests that replay them.
pub(crate) async fn journal(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(JOURNAL_PARAMETERS)?;
    let from = RecordNumber(parameters.count(&FROM)?.unwrap_or(0) as u64);
    let (journal, has_ended) = match parameters.duration("wait")? {
        Some(timeout) => tail(&call, from, timeout).await?,
        None => {
            let mut journal = call.engine().journal(&call.run()?).await?;
            journal.retain(|entry| entry.number >= from);
            (journal, false)
        }
    };
    let mut response = respond_as(StatusCode::OK, JSON_LINES, lines_of(&journal)?);
    if has_ended {
        let closed = HeaderValue::from_static("true");
        response.headers_mut().insert(CLOSED, closed);
    }
    Ok(response)
}

/// Waits for a record from this number on. Returns all available records, and whether the run has
/// ended.
async fn tail(
    call: &Call,
    from: RecordNumber,
    timeout: Duration,
) -> Result<(Vec<Entry>, bool), Failure> {
    let mut records = call.engine().records(&call.run()?, from).await?;
    let Some(first) = call.wait(timeout, records.next()).await? else {
        return Ok((Vec::new(), false));
    };
    let Some(first) = first? else {
        return Ok((Vec::new(), true));
    };
    let mut journal = vec![first];
    // Add the records that are available without waiting.
    while let Some(next) = records.next().now_or_never() {
        match next? {
            Some(entry) => journal.push(entry),
            None => return Ok((journal, true)),
        }
    }
    Ok((journal, false))
}

fn lines_of(journal: &[Entry]) -> Result<String, Failure> {
    let mut lines = String::new();
    for entry in journal {
        let line = entry_to_json(entry).map_err(|error| {
            let detail = format!("record {} is damaged: {error}", entry.number);
            Failure::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(lines)
}
