//! `POST /bulk`: one verb for many runs. Whoever asks for `application/x-ndjson` hears of the progress.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::BulkReport as Report;
use everstep_model::RunId;
use everstep_protocol::workflow::{BulkLine, BulkProgress, BulkReport, BulkRequest, BulkRun};
use futures_util::stream;
use tokio::sync::mpsc;

use super::call::{Call, answer, run_id, typed};
use super::control::told;
use super::list::query;
use crate::failure::Failure;

/// Lines of JSON.
pub(crate) const LINES: &str = "application/x-ndjson";

pub(crate) async fn bulk(call: Call) -> Result<Response, Failure> {
    let request: BulkRequest = call.request()?;
    let runs = runs(&call, &request).await?;
    let control = request.verb.with_rollback(request.rollback);
    let asked = call.asked(request.reason);
    let engine = call.engine().clone();
    if !call.prefers(LINES) {
        let report = engine.bulk(runs, control, asked, |_| {}).await;
        return answer(StatusCode::OK, &of_report(report));
    }
    let (tell, told) = mpsc::unbounded_channel();
    // It ends when whoever asked goes away: what is under way by then is finished, the rest is left alone.
    let work = async move {
        let progress = |at: everstep_engine::BulkProgress| {
            let _ = tell.send(line(&BulkLine::Progress(BulkProgress {
                done: at.done,
                total: at.total,
                refused: at.refused,
            })));
        };
        let report = engine.bulk(runs, control, asked, progress).await;
        let _ = tell.send(line(&BulkLine::Report(of_report(report))));
    };
    let lines = stream::unfold((Box::pin(work), told, false), |state| async move {
        let (mut work, mut told, mut is_over) = state;
        loop {
            let line = tokio::select! {
                biased;
                line = told.recv() => line?,
                () = &mut work, if !is_over => {
                    is_over = true;
                    continue;
                }
            };
            return Some((Ok::<_, Infallible>(line), (work, told, is_over)));
        }
    });
    Ok(typed(StatusCode::OK, LINES, Body::from_stream(lines)))
}

fn line(line: &BulkLine) -> Bytes {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text.into()
}

async fn runs(call: &Call, request: &BulkRequest) -> Result<Vec<RunId>, Failure> {
    match (&request.ids, &request.filter) {
        (Some(ids), None) => ids.iter().map(|id| run_id(id)).collect(),
        (None, Some(filter)) => Ok(call.engine().listed(query(filter)?).await?),
        (None, None) | (Some(_), Some(_)) => Err(Failure::invalid(
            "say which runs by `ids` or by `filter`, one of them; an empty filter means all",
        )),
    }
}

fn of_report(report: Report) -> BulkReport {
    let changed = report.changed();
    let runs = report.runs.into_iter().map(|(id, result)| match result {
        Ok(done) => BulkRun {
            id,
            done: Some(told(&done)),
            problem: None,
        },
        Err(error) => BulkRun {
            id,
            done: None,
            problem: Some(Failure::from(error).problem()),
        },
    });
    let runs: Vec<_> = runs.collect();
    BulkReport {
        total: runs.len(),
        changed,
        refused: runs.iter().filter(|run| run.problem.is_some()).count(),
        runs,
    }
}
