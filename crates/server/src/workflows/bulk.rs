//! `POST /bulk` applies one verb to many runs. With `Accept: application/x-ndjson` it reports
//! progress.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use everstep_model::RunId;
use everstep_protocol::workflow::{BulkLine, BulkProgress, BulkRequest};
use futures_util::stream;
use tokio::sync::mpsc;

use super::bulk_summary::Summary;
use super::call::{Call, run_id};
use super::list::query;
use crate::failure::Failure;
use crate::json::respond;
use crate::response::no_store;

pub(crate) const JSON_LINES: &str = "application/x-ndjson";

/// The number of lines that wait for a slow client.
const LINES_BUFFERED: usize = 64;

pub(crate) async fn bulk(call: Call) -> Result<Response, Failure> {
    let request: BulkRequest = call.request()?;
    let mut summary = Summary::default();
    let runs = runs(&call, &request, &mut summary).await?;
    let control = request.verb.with_rollback(request.rollback);
    let origin = call.origin(request.reason);
    let engine = call.engine().clone();
    if !call.prefers(JSON_LINES) {
        let each = |_, id, result| summary.add(id, result, control);
        engine.bulk(runs, control, origin, each).await;
        let report = summary.into_report();
        return Ok(respond(StatusCode::OK, &report));
    }
    let (sender, receiver) = mpsc::channel(LINES_BUFFERED);
    // If the client disconnects, runs in flight are finished and the others are left unchanged.
    let work = async move {
        let each = |at: everstep_engine::BulkProgress, id, result| {
            summary.add(id, result, control);
            // A client that reads slowly gets fewer lines of progress.
            let _ = sender.try_send(line(&BulkLine::Progress(BulkProgress {
                done: at.done,
                total: at.total,
                refused: at.refused,
            })));
        };
        engine.bulk(runs, control, origin, each).await;
        let report = summary.into_report();
        let _ = sender.send(line(&BulkLine::Report(report))).await;
    };
    let lines = stream::unfold((Box::pin(work), receiver, false), |state| async move {
        let (mut work, mut receiver, mut has_ended) = state;
        loop {
            let line = tokio::select! {
                biased;
                line = receiver.recv() => line?,
                () = &mut work, if !has_ended => {
                    has_ended = true;
                    continue;
                }
            };
            return Some((Ok::<_, Infallible>(line), (work, receiver, has_ended)));
        }
    });
    let lines = Body::from_stream(lines);
    Ok(no_store(StatusCode::OK, JSON_LINES, lines))
}

fn line(line: &BulkLine) -> Bytes {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text.into()
}

/// Returns the runs that a request may change, and adds the others to the summary. A filter selects
/// only runs within the limits of the caller.
async fn runs(
    call: &Call,
    request: &BulkRequest,
    summary: &mut Summary,
) -> Result<Vec<RunId>, Failure> {
    match (&request.ids, &request.filter) {
        (Some(ids), None) => {
            let mut runs = Vec::new();
            for id in ids {
                let id = run_id(id)?;
                match call.check_reach(&id).await {
                    Ok(()) => runs.push(id),
                    Err(failure) => summary.refuse(id, &failure),
                }
            }
            Ok(runs)
        }
        (None, Some(filter)) => match call.caller.limits().restrict(query(filter)?) {
            Some(query) => Ok(call.engine().listed(query).await?),
            None => Ok(Vec::new()),
        },
        (None, None) | (Some(_), Some(_)) => Err(Failure::invalid(
            "exactly one of `ids` and `filter` is required",
        )),
    }
}
