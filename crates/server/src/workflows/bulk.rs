//! `POST /bulk` applies one verb to many runs. With `Accept: application/x-ndjson` it reports progress.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{BulkReport as Report, Control};
use everstep_model::RunId;
use everstep_protocol::workflow::{BulkLine, BulkProgress, BulkReport, BulkRequest, BulkRun};
use futures_util::stream;
use tokio::sync::mpsc;

use super::call::{Call, run_id};
use super::control::outcome;
use super::control_message::of_control;
use super::list::query;
use crate::failure::Failure;
use crate::json::respond;
use crate::response::no_store;

pub(crate) const JSON_LINES: &str = "application/x-ndjson";

pub(crate) async fn bulk(call: Call) -> Result<Response, Failure> {
    let request: BulkRequest = call.request()?;
    let (runs, unreached) = runs(&call, &request).await?;
    let control = request.verb.with_rollback(request.rollback);
    let origin = call.origin(request.reason);
    let engine = call.engine().clone();
    if !call.prefers(JSON_LINES) {
        let report = engine.bulk(runs, control, origin, |_| {}).await;
        return Ok(respond(
            StatusCode::OK,
            &into_report(report, control, unreached),
        ));
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    // If the client disconnects, runs in flight are finished and the others are left unchanged.
    let work = async move {
        let progress = |at: everstep_engine::BulkProgress| {
            let _ = sender.send(line(&BulkLine::Progress(BulkProgress {
                done: at.done,
                total: at.total,
                refused: at.refused,
            })));
        };
        let report = engine.bulk(runs, control, origin, progress).await;
        let report = into_report(report, control, unreached);
        let _ = sender.send(line(&BulkLine::Report(report)));
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

/// Returns the runs of a request, and those that the caller may not change. A filter selects only runs
/// within the limits of the caller.
async fn runs(call: &Call, request: &BulkRequest) -> Result<(Vec<RunId>, Vec<BulkRun>), Failure> {
    match (&request.ids, &request.filter) {
        (Some(ids), None) => {
            let (mut runs, mut unreached) = (Vec::new(), Vec::new());
            for id in ids {
                let id = run_id(id)?;
                match call.check_reach(&id).await {
                    Ok(()) => runs.push(id),
                    Err(failure) => unreached.push(BulkRun {
                        id,
                        done: None,
                        problem: Some(failure.problem()),
                    }),
                }
            }
            Ok((runs, unreached))
        }
        (None, Some(filter)) => {
            let runs = match call.caller.limits().restrict(query(filter)?) {
                Some(query) => call.engine().listed(query).await?,
                None => Vec::new(),
            };
            Ok((runs, Vec::new()))
        }
        (None, None) | (Some(_), Some(_)) => Err(Failure::invalid(
            "say which runs by `ids` or by `filter`, one of them; an empty filter means all",
        )),
    }
}

fn into_report(report: Report, control: Control, unreached: Vec<BulkRun>) -> BulkReport {
    let changed = report.changed();
    let runs = report.runs.into_iter().map(|(id, result)| {
        let (done, problem) = match result {
            Ok(done) => (Some(outcome(&done, of_control(&done, control))), None),
            Err(error) => (None, Some(Failure::from(error).problem())),
        };
        BulkRun { id, done, problem }
    });
    let runs = runs.chain(unreached);
    let runs: Vec<_> = runs.collect();
    BulkReport {
        total: runs.len(),
        changed,
        refused: runs.iter().filter(|run| run.problem.is_some()).count(),
        runs,
    }
}
