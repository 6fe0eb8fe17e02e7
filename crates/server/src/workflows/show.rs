//! `GET /workflows/{id}`: a run in full, now or when it has ended.

use std::ops::ControlFlow;

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::PageSize;
use everstep_inspect::{Overview, RollbackView as Undoing, StepView as Step};
use everstep_model::record::ForkedFrom;
use everstep_model::{
    Generation, Location, Name, Payload, RecordNumber, RunId, StepStatus, Timestamp,
};
use everstep_protocol::workflow::{
    OriginView, RollbackView, RpcView, RunView, StepView, WaitKind, WaitView,
};
use everstep_store::RunRow;

use super::call::Call;
use super::page_cursor::{PageCursor, PageOf};
use super::permitted::Permitted;
use super::steps_page::{PageFold, StepsPage};
use crate::failure::Failure;
use crate::json::respond;
use crate::parameters::{Parameter, parameters};

/// The maximum number of steps of a page.
const STEPS_PAGE: u32 = 1_000;

pub(crate) const PARAMETERS: &[Parameter] = parameters! {
    "wait": Duration, "Wait until the run has ended, up to this duration, such as `30s`.";
    "limit": Count(1, STEPS_PAGE), "The maximum number of steps; 1,000 by default. A page may have fewer although it has a cursor.";
    "cursor": Text, "The `stepsCursor` of the previous page of steps.";
};

pub(crate) async fn show(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(PARAMETERS)?;
    let of = PageOf::of(&call, parameters.text("cursor"))?;
    let steps = StepsPage {
        from: of.first_record()?,
        limit: parameters.count("limit")?.unwrap_or(STEPS_PAGE as usize),
    };
    let (run, generation) = (of.run, of.generation);
    if let Some(timeout) = parameters.duration("wait")? {
        // An earlier generation has ended, and the run may go on in a later one.
        if generation.is_none() || !has_ended(&call, &run, generation).await? {
            let ended = call.wait(timeout, call.engine().ended(&run, None)).await?;
            ended.transpose()?;
        }
    }
    let _turn = call.read_turn().await;
    let mut fold = PageFold::new(steps);
    let visit = |entry| {
        fold.fold(entry);
        ControlFlow::Continue(())
    };
    let row = call.engine().visit_journal(&run, generation, visit).await?;
    // After waiting, the run may have a later generation than the caller may read.
    let permitted = Permitted::to(&call.caller, &run, row.generation)?;
    let stream = call.stream(&row.id, row.generation);
    let view = permitted.run(view(row, fold, stream));
    Ok(respond(StatusCode::OK, &view))
}

/// Returns whether a run, or one generation of it, has ended.
async fn has_ended(
    call: &Call,
    run: &RunId,
    generation: Option<Generation>,
) -> Result<bool, Failure> {
    let size = PageSize {
        records: 1,
        bytes: 1,
    };
    let page = call
        .engine()
        .journal_page(run, generation, RecordNumber(0), size);
    Ok(page.await?.row.status.is_terminal())
}

fn view(row: RunRow, fold: PageFold, stream: String) -> RunView {
    let (overview, steps, next) = fold.finish();
    let steps_cursor = next.map(|next| PageCursor {
        generation: row.generation,
        position: next.to_string(),
    });
    RunView {
        waiting_for: waiting_for(&overview),
        rpcs: rpcs(&overview),
        rollback: rollback(&overview),
        rolled_back: overview.rolled_back,
        no_return_at: overview.no_return_at,
        execution_attempt: overview.execution_attempt,
        execution_retries: overview.execution_retries,
        forked_from: overview.forked_from.map(origin),
        steps: steps.into_iter().map(step).collect(),
        steps_cursor: steps_cursor.map(|cursor| cursor.to_string()),
        id: row.id,
        workflow: row.workflow,
        version: row.version,
        generation: row.generation.0,
        // From the row, as in lists: a released run is queued, whatever its journal says.
        status: row.status,
        tags: row.tags,
        input: overview.input.unwrap_or_else(Payload::null),
        result: overview.result,
        error: overview.error,
        rollback_error: overview.rollback_error,
        reason: overview.reason,
        deadline: overview.deadline,
        stream,
        // From the row: the first record of a fork has the time of its original.
        created_at: row.created_at,
        updated_at: overview.updated_at.unwrap_or(row.updated_at),
        completed_at: overview.completed_at,
    }
}

fn step(step: Step) -> StepView {
    StepView {
        id: step.location.to_string(),
        name: step.location.name.clone(),
        status: step.status,
        attempts: step.attempts,
        result: step.result,
        redacted: step.sensitive,
        error: step.error,
        first_started_at: step.first_started_at,
        started_at: step.started_at,
        completed_at: step.completed_at,
        next_retry_at: step.next_retry_at,
    }
}

fn origin(forked_from: ForkedFrom) -> OriginView {
    OriginView {
        run: forked_from.run,
        generation: forked_from.generation.0,
        reason: forked_from.reason,
        at: forked_from.at.map(|at| at.to_string()),
    }
}

fn rollback(overview: &Overview) -> Option<RollbackView> {
    let undone = overview.steps.iter();
    let undone = undone.filter(|step| step.status == StepStatus::Undone);
    let mut view = RollbackView {
        undone: u32::try_from(undone.count()).unwrap_or(u32::MAX),
        step: None,
        attempt: 0,
        since: None,
        error: None,
        retry_at: None,
    };
    match overview.rollback.as_ref()? {
        Undoing::Undoing {
            step,
            attempt,
            since,
        } => {
            (view.step, view.attempt) = (Some(step.to_string()), *attempt);
            view.since = Some(*since);
        }
        Undoing::Retrying {
            step,
            attempt,
            error,
            retry_at,
        } => {
            (view.step, view.attempt) = (Some(step.to_string()), *attempt);
            (view.error, view.retry_at) = (Some(error.clone()), Some(*retry_at));
        }
        Undoing::Between => {}
    }
    Some(view)
}

fn waiting_for(overview: &Overview) -> Vec<WaitView> {
    if overview.end.is_some() {
        return Vec::new();
    }
    let mut waits = Vec::new();
    for wait in &overview.waits {
        let (at, since) = (&wait.location, Some(wait.since));
        let names = wait.names.iter();
        waits.extend(names.map(|name| waiting(WaitKind::Event, name, at, since, wait.deadline)));
    }
    waits.extend(overview.rpcs.iter().map(|rpc| {
        let (at, since) = (&rpc.location, Some(rpc.since));
        waiting(WaitKind::Rpc, &rpc.method, at, since, rpc.deadline)
    }));
    waits.extend(overview.children.iter().map(|child| {
        let (at, since) = (&child.location, Some(child.since));
        waiting(WaitKind::Child, &child.workflow, at, since, child.deadline)
    }));
    waits.extend(overview.sleeps.iter().map(|sleep| {
        let (at, since) = (&sleep.location, Some(sleep.since));
        waiting(WaitKind::Sleep, &at.name, at, since, Some(sleep.until))
    }));
    let steps = overview.steps.iter();
    let retrying = steps.filter(|step| step.status == StepStatus::Retrying);
    waits.extend(retrying.map(|step| {
        let at = &step.location;
        waiting(WaitKind::Retry, &at.name, at, None, step.next_retry_at)
    }));
    waits
}

fn waiting(
    kind: WaitKind,
    name: &Name,
    at: &Location,
    since: Option<Timestamp>,
    deadline: Option<Timestamp>,
) -> WaitView {
    WaitView {
        kind,
        name: name.clone(),
        id: at.to_string(),
        since,
        deadline,
    }
}

fn rpcs(overview: &Overview) -> Vec<RpcView> {
    let open = overview.rpcs.iter().filter(|_| overview.end.is_none());
    let open = open.map(|rpc| RpcView {
        id: rpc.rpc_id.clone(),
        method: rpc.method.clone(),
        args: rpc.args.clone(),
        since: rpc.since,
        deadline: rpc.deadline,
    });
    open.collect()
}
