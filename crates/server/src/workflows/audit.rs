//! A run as people look at it: why it is not moving, its timeline, its shape, and its journal as it is kept.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use everstep_inspect::{shape as shape_of, timeline as timeline_of, to_json_lines, to_mermaid};
use everstep_model::{Entry, RecordNumber, entry_to_json};
use everstep_protocol::workflow::WhyView;
use futures_util::FutureExt;

use super::bulk::LINES;
use super::call::{Call, answer, typed};
use super::parameters::{Kind, Parameter};
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

const FROM: Parameter = Parameter {
    name: "from",
    about: "The number of the first record that is told of; 0 if nothing is said.",
    kind: Kind::Count(0, u32::MAX),
};

pub(crate) const TIMELINE_PARAMETERS: &[Parameter] = &[FROM];

pub(crate) async fn timeline(call: Call) -> Result<Response, Failure> {
    let from = call.parameters(TIMELINE_PARAMETERS)?.count(&FROM)?;
    let mut lines = timeline_of(&call.engine().journal(&call.run()?).await?);
    if let Some(from) = from {
        lines.retain(|line| line.number.0 >= from as u64);
    }
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

pub(crate) const JOURNAL_PARAMETERS: &[Parameter] = &[
    FROM,
    Parameter {
        name: "wait",
        about: "Hold the answer until there is a record to show or the run is over, but no longer than this, such as `30s`.",
        kind: Kind::Duration,
    },
];

/// Says that the run is over and these are its last records.
const CLOSED: HeaderName = HeaderName::from_static("stream-closed");

/// Every record with every field, for tests that replay it and for clients that know them: nothing is withheld.
pub(crate) async fn journal(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(JOURNAL_PARAMETERS)?;
    let from = RecordNumber(parameters.count(&FROM)?.unwrap_or(0) as u64);
    let (journal, is_over) = match parameters.duration("wait")? {
        Some(patience) => tail(&call, from, patience).await?,
        None => {
            let mut journal = call.engine().journal(&call.run()?).await?;
            journal.retain(|entry| entry.number >= from);
            (journal, false)
        }
    };
    let mut response = typed(StatusCode::OK, LINES, lines_of(&journal)?);
    if is_over {
        let over = HeaderValue::from_static("true");
        response.headers_mut().insert(CLOSED, over);
    }
    Ok(response)
}

/// The records from a number on, once there is one; and whether no more will come.
async fn tail(
    call: &Call,
    from: RecordNumber,
    patience: Duration,
) -> Result<(Vec<Entry>, bool), Failure> {
    let mut records = call.engine().records(&call.run()?, from).await?;
    let Some(first) = call.within(patience, records.next()).await? else {
        return Ok((Vec::new(), false));
    };
    let Some(first) = first? else {
        return Ok((Vec::new(), true));
    };
    let mut journal = vec![first];
    // What is at hand goes with it.
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
            let broken = StatusCode::INTERNAL_SERVER_ERROR;
            Failure::new(
                broken,
                format!("record {} is damaged: {error}", entry.number),
            )
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(lines)
}
