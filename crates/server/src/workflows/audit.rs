//! Inspection of a run: why it makes no progress, its timeline, its structure, and its journal.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use everstep_inspect::{shape as shape_of, timeline as timeline_of, to_json_lines, to_mermaid};
use everstep_model::{Body, Entry, Payload, RecordNumber, entry_to_json};
use futures_util::FutureExt;

use super::bulk::JSON_LINES;
use super::call::Call;
use super::permitted::Permitted;
use crate::failure::Failure;
use crate::journals::is_secret;
use crate::json::respond;
use crate::parameters::{Parameter, parameters};
use crate::response::no_store;
use crate::stream_protocol::CLOSED;

/// The media type of Mermaid diagrams.
pub(crate) const MERMAID: &str = "text/vnd.mermaid";

pub(crate) async fn why(call: Call) -> Result<Response, Failure> {
    let (run, named) = call.run_and_generation()?;
    let engine = call.engine();
    let generation = match named {
        Some(generation) => generation,
        None => engine.row(&run).await?.generation,
    };
    let permitted = Permitted::to(&call.caller, &run, generation)?;
    let why = engine.why(&run, Some(generation)).await?;
    Ok(respond(StatusCode::OK, &permitted.why(why)))
}

/// Reads the journal of the generation that the path names, by default the latest.
async fn whole_journal(call: &Call) -> Result<Vec<Entry>, Failure> {
    let engine = call.engine();
    Ok(match call.run_and_generation()? {
        (run, Some(generation)) => engine.journal_of_generation(&run, generation).await?,
        (run, None) => engine.journal(&run).await?,
    })
}

pub(crate) const TIMELINE_PARAMETERS: &[Parameter] = parameters! {
    "from": Count(0, u32::MAX), "The number of the first record; 0 by default.";
};

pub(crate) async fn timeline(call: Call) -> Result<Response, Failure> {
    let from = call.parameters(TIMELINE_PARAMETERS)?.count("from")?;
    let mut lines = timeline_of(&whole_journal(&call).await?);
    if let Some(from) = from {
        lines.retain(|line| line.number.0 >= from as u64);
    }
    Ok(match call.prefers(JSON_LINES) {
        true => no_store(StatusCode::OK, JSON_LINES, to_json_lines(&lines)),
        false => respond(StatusCode::OK, &lines),
    })
}

pub(crate) async fn shape(call: Call) -> Result<Response, Failure> {
    let shape = shape_of(&whole_journal(&call).await?);
    Ok(match call.prefers("application/json") {
        true => respond(StatusCode::OK, &shape),
        false => no_store(StatusCode::OK, MERMAID, to_mermaid(&shape)),
    })
}

pub(crate) const JOURNAL_PARAMETERS: &[Parameter] = parameters! {
    "from": Count(0, u32::MAX), "The number of the first record; 0 by default.";
    "wait": Duration, "Wait for a record or the end of the run, up to this duration, such as `30s`.";
};

/// Returns all records with all fields, for tests that replay them.
pub(crate) async fn journal(call: Call) -> Result<Response, Failure> {
    respond_with_records(call, |_| {}).await
}

/// Returns all records without the results of sensitive steps, for clients that inspect runs.
pub(crate) async fn records(call: Call) -> Result<Response, Failure> {
    respond_with_records(call, redact).await
}

fn redact(body: &mut Body) {
    if !is_secret(body) {
        return;
    }
    match body {
        Body::StepCompleted(step) => step.result = Payload::null(),
        Body::StepSkipped(step) => step.result = Payload::null(),
        Body::StepEdited(step) => step.result = Payload::null(),
        _ => {}
    }
}

/// `Stream-Closed` is `true` if the run has ended and the response contains its last records.
async fn respond_with_records(call: Call, redact: impl Fn(&mut Body)) -> Result<Response, Failure> {
    let parameters = call.parameters(JOURNAL_PARAMETERS)?;
    let from = RecordNumber(parameters.count("from")?.unwrap_or(0) as u64);
    let (mut journal, has_ended) = match parameters.duration("wait")? {
        Some(timeout) => tail(&call, from, timeout).await?,
        None => {
            let mut journal = whole_journal(&call).await?;
            journal.retain(|entry| entry.number >= from);
            (journal, false)
        }
    };
    for entry in &mut journal {
        redact(&mut entry.record.body);
    }
    let mut response = no_store(StatusCode::OK, JSON_LINES, lines_of(&journal)?);
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
            Failure::uncoded(StatusCode::INTERNAL_SERVER_ERROR, detail)
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(lines)
}
