//! `POST /workflows/{id}/{verb}` and `DELETE /workflows/{id}`: control of a run as a whole.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{Because, Control, Done, Effect, ForkRun, Revival};
use everstep_protocol::workflow::{
    CancelRequest, ControlAnswer, ControlRequest, EffectWord, ForkRequest, RestartRequest,
};

use super::call::{Call, location, respond, run_id};
use crate::failure::Failure;
use crate::parameters::{Kind, Parameter};

pub(crate) const DELETE_PARAMETERS: &[Parameter] = &[Parameter {
    name: "reason",
    about: "The reason, for the journal of a run that is terminated first.",
    kind: Kind::Text,
}];

pub(crate) async fn pause(call: Call) -> Result<Response, Failure> {
    plain(call, Control::Pause).await
}

pub(crate) async fn resume(call: Call) -> Result<Response, Failure> {
    plain(call, Control::Resume).await
}

pub(crate) async fn terminate(call: Call) -> Result<Response, Failure> {
    plain(call, Control::Terminate).await
}

pub(crate) async fn recover(call: Call) -> Result<Response, Failure> {
    plain(call, Control::Recover).await
}

pub(crate) async fn retry_rollback(call: Call) -> Result<Response, Failure> {
    plain(call, Control::RetryRollback).await
}

pub(crate) async fn fail(call: Call) -> Result<Response, Failure> {
    plain(call, Control::Fail).await
}

async fn plain(call: Call, control: Control) -> Result<Response, Failure> {
    let request: ControlRequest = call.request()?;
    let origin = call.origin(request.reason);
    let done = call.engine().control(&call.run()?, control, origin).await?;
    respond(StatusCode::OK, &outcome(&done))
}

pub(crate) async fn cancel(call: Call) -> Result<Response, Failure> {
    let request: CancelRequest = call.request()?;
    let control = Control::Cancel {
        rollback: request.rollback,
    };
    let origin = call.origin(request.reason);
    let done = call.engine().control(&call.run()?, control, origin).await?;
    respond(StatusCode::OK, &outcome(&done))
}

pub(crate) async fn restart(call: Call) -> Result<Response, Failure> {
    let request: RestartRequest = call.request()?;
    let revival = match (request.from, request.result) {
        (Some(from), edited) => Revival::RestartFrom {
            at: location(&from)?,
            edited,
        },
        (None, None) => Revival::Restart,
        (None, Some(_)) => {
            let detail = "`result` needs `from`, the step it belongs to";
            return Err(Failure::invalid(detail));
        }
    };
    let origin = call.origin(request.reason);
    let done = call.engine().revive(&call.run()?, revival, origin).await?;
    respond(StatusCode::OK, &outcome(&done))
}

pub(crate) async fn fork(call: Call) -> Result<Response, Failure> {
    let request: ForkRequest = call.request()?;
    let fork = ForkRun {
        run: call.run()?,
        id: request.id.as_deref().map(run_id).transpose()?,
        at: request.from.as_deref().map(location).transpose()?,
        edited: request.result,
    };
    let origin = call.origin(request.reason);
    let done = call.engine().fork(fork, origin).await?;
    respond(StatusCode::OK, &outcome(&done))
}

pub(crate) async fn delete(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(DELETE_PARAMETERS)?;
    let origin = call.origin(parameters.text("reason").map(str::to_owned));
    let run = call.run()?;
    let done = call.engine().control(&run, Control::Delete, origin).await?;
    respond(StatusCode::OK, &outcome(&done))
}

pub(super) fn outcome(done: &Done) -> ControlAnswer {
    ControlAnswer {
        id: done.run.clone(),
        generation: done.generation.0,
        status: done.status,
        changed: done.changed(),
        effect: match done.effect {
            Effect::Done => EffectWord::Done,
            Effect::NeedsWorker => EffectWord::NeedsWorker,
            Effect::Deleted => EffectWord::Deleted,
            Effect::Nothing(Because::Finished) => EffectWord::Finished,
            Effect::Nothing(Because::Paused) => EffectWord::Paused,
            Effect::Nothing(Because::NotPaused) => EffectWord::NotPaused,
            Effect::Nothing(Because::Ending) => EffectWord::Ending,
            Effect::Nothing(Because::NotFailed) => EffectWord::NotFailed,
            Effect::Nothing(Because::RollbackDidNotFail) => EffectWord::RollbackDidNotFail,
        },
        message: done.to_string(),
    }
}
