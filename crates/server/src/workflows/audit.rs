//! Inspection of a run: why it makes no progress, its timeline, and its journal.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everstep_engine::{PageSize, Records};
use everstep_inspect::{TimelineReader, to_json_lines};
use everstep_model::{Body, Entry, Generation, Payload, RecordNumber, entry_to_json};

use super::bulk::JSON_LINES;
use super::call::Call;
use super::page_cursor::{PageCursor, PageOf, invalid_cursor};
use super::permitted::Permitted;
use crate::failure::Failure;
use crate::journals::is_secret;
use crate::json::respond;
use crate::parameters::{Parameter, parameters};
use crate::response::no_store;
use crate::stream_protocol::CLOSED;

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

/// The maximum size of the records of a page, approximately, in bytes.
const PAGE_BYTES: usize = 4 << 20;
/// The maximum number of records of a page of a timeline.
const TIMELINE_PAGE: u32 = 1_000;
/// The maximum number of records of a page of a journal.
const RECORDS_PAGE: u32 = 10_000;

pub(crate) const TIMELINE_PARAMETERS: &[Parameter] = parameters! {
    "from": Count(0, u32::MAX), "The number of the first record; 0 by default.";
    "limit": Count(1, TIMELINE_PAGE), "The maximum number of records; 1,000 by default.";
    "cursor": Text, "The header `Everstep-Cursor` of the previous page, instead of `from`.";
};

pub(crate) async fn timeline(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(TIMELINE_PARAMETERS)?;
    let (from, cursor) = (parameters.count("from")?, parameters.text("cursor"));
    if from.is_some() && cursor.is_some() {
        return Err(Failure::invalid("`from` and `cursor` exclude each other"));
    }
    let of = PageOf::of(&call, cursor)?;
    let mut reader = match &of.position {
        Some(position) => reader_at(position).ok_or_else(invalid_cursor)?,
        None => TimelineReader::at(RecordNumber(from.unwrap_or(0) as u64)),
    };
    let size = PageSize {
        records: parameters.count("limit")?.unwrap_or(TIMELINE_PAGE as usize),
        bytes: PAGE_BYTES,
    };
    let engine = call.engine();
    let page = engine.journal_page(&of.run, of.generation, reader.next(), size);
    let page = page.await?;
    // The gate knows the generation in the path, but not the one in the cursor.
    Permitted::to(&call.caller, &of.run, page.row.generation)?;
    if let Some(began_at) = page.began_at.filter(|_| reader.next() > RecordNumber(0)) {
        reader.set_created(began_at);
    }
    let lines = reader.read(&page.entries);
    let mut response = match call.prefers(JSON_LINES) {
        true => no_store(StatusCode::OK, JSON_LINES, to_json_lines(&lines)),
        false => respond(StatusCode::OK, &lines),
    };
    // A journal that goes on has a cursor at its end too.
    if !page.is_closed || reader.next() < page.end {
        let cursor = PageCursor {
            generation: page.row.generation,
            position: URL_SAFE_NO_PAD.encode(reader.to_text()),
        };
        cursor.put(&mut response);
    }
    Ok(response)
}

fn reader_at(position: &str) -> Option<TimelineReader> {
    let text = URL_SAFE_NO_PAD.decode(position).ok()?;
    TimelineReader::from_text(&text).ok()
}

pub(crate) const JOURNAL_PARAMETERS: &[Parameter] = parameters! {
    "from": Count(0, u32::MAX), "The number of the first record; 0 by default.";
    "limit": Count(1, RECORDS_PAGE), "The maximum number of records; 10,000 by default.";
    "cursor": Text, "The header `Everstep-Cursor` of the previous page, instead of `from`.";
    "wait": Duration, "Wait for a record or the end of the run, up to this duration, such as `30s`.";
};

/// Returns records with all fields, for tests that replay them.
pub(crate) async fn journal(call: Call) -> Result<Response, Failure> {
    respond_with_records(call, |_| {}).await
}

/// Returns records without the results of sensitive steps and the data for their undos, for clients
/// that inspect runs.
pub(crate) async fn records(call: Call) -> Result<Response, Failure> {
    respond_with_records(call, redact).await
}

fn redact(body: &mut Body) {
    // A failed attempt does not say whether its step is sensitive.
    if let Body::StepFailed(step) = body {
        step.undo = None;
    }
    if !is_secret(body) {
        return;
    }
    match body {
        Body::StepCompleted(step) => {
            step.result = Payload::null();
            step.undo = None;
        }
        Body::StepSkipped(step) => step.result = Payload::null(),
        Body::StepEdited(step) => step.result = Payload::null(),
        _ => {}
    }
}

/// `Stream-Closed` is `true` if the run has ended and the response contains its last records.
async fn respond_with_records(call: Call, redact: impl Fn(&mut Body)) -> Result<Response, Failure> {
    let parameters = call.parameters(JOURNAL_PARAMETERS)?;
    let (from, cursor) = (parameters.count("from")?, parameters.text("cursor"));
    if from.is_some() && cursor.is_some() {
        return Err(Failure::invalid("`from` and `cursor` exclude each other"));
    }
    let of = PageOf::of(&call, cursor)?;
    let from = match from {
        Some(from) => RecordNumber(from as u64),
        None => of.first_record()?,
    };
    let size = PageSize {
        records: parameters.count("limit")?.unwrap_or(RECORDS_PAGE as usize),
        bytes: PAGE_BYTES,
    };
    let wait = parameters.duration("wait")?;
    let mut page = records_page(&call, of, from, size, wait).await?;
    for entry in &mut page.entries {
        redact(&mut entry.record.body);
    }
    let mut response = no_store(StatusCode::OK, JSON_LINES, lines_of(&page.entries)?);
    if let Some(next) = page.next {
        let cursor = PageCursor {
            generation: page.generation,
            position: next.to_string(),
        };
        cursor.put(&mut response);
    }
    if page.has_ended {
        let closed = HeaderValue::from_static("true");
        response.headers_mut().insert(CLOSED, closed);
    }
    Ok(response)
}

/// Records of a response.
struct RecordsPage {
    generation: Generation,
    entries: Vec<Entry>,
    /// Where the next page begins. `None` if no record follows at this time.
    next: Option<RecordNumber>,
    /// Whether a request that waits has reached the end of the run.
    has_ended: bool,
}

async fn records_page(
    call: &Call,
    of: PageOf,
    from: RecordNumber,
    size: PageSize,
    wait: Option<Duration>,
) -> Result<RecordsPage, Failure> {
    let engine = call.engine();
    // This generation, even if the run begins another one meanwhile.
    let generation = match of.generation {
        Some(generation) => generation,
        None => engine.row(&of.run).await?.generation,
    };
    let has_ended = match wait {
        Some(timeout) => {
            let records = engine.records(&of.run, Some(generation), from);
            wait_for_record(call, records.await?, timeout).await?
        }
        None => false,
    };
    let page = engine.journal_page(&of.run, Some(generation), from, size);
    let page = page.await?;
    let next = page.entries.last().map(|last| last.number.plus(1));
    let next = next.filter(|next| *next < page.end);
    Ok(RecordsPage {
        generation: page.row.generation,
        has_ended: has_ended || (wait.is_some() && page.is_closed && next.is_none()),
        entries: page.entries,
        next,
    })
}

/// Waits for the next record. Returns whether the generation has ended without one.
async fn wait_for_record(
    call: &Call,
    mut records: Records,
    timeout: Duration,
) -> Result<bool, Failure> {
    match call.wait(timeout, records.next()).await? {
        Some(first) => Ok(first?.is_none()),
        None => Ok(false),
    }
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
