//! `POST /workflows/{id}/{verb}` and `DELETE /workflows/{id}`: what operators do with a run as a whole.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{Because, Control, Done, Effect, ForkRun, Revival};
use everstep_protocol::workflow::{
    CancelRequest, ControlAnswer, ControlRequest, EffectWord, ForkRequest, RestartRequest,
};

use super::call::{Call, answer, location, run_id};
use super::parameters::{Kind, Parameter};
use crate::failure::Failure;

pub(crate) const DELETE_PARAMETERS: &[Parameter] = &[Parameter {
    name: "reason",
    about: "Why, for the journal of a run that is not over and is terminated first.",
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
    let asked = call.asked(request.reason);
    let done = call.engine().control(&call.run()?, control, asked).await?;
    answer(StatusCode::OK, &told(&done))
}

pub(crate) async fn cancel(call: Call) -> Result<Response, Failure> {
    let request: CancelRequest = call.request()?;
    let control = Control::Cancel {
        rollback: request.rollback,
    };
    let asked = call.asked(request.reason);
    let done = call.engine().control(&call.run()?, control, asked).await?;
    answer(StatusCode::OK, &told(&done))
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
    let asked = call.asked(request.reason);
    let done = call.engine().revive(&call.run()?, revival, asked).await?;
    answer(StatusCode::OK, &told(&done))
}

pub(crate) async fn fork(call: Call) -> Result<Response, Failure> {
    let request: ForkRequest = call.request()?;
    let fork = ForkRun {
        run: call.run()?,
        id: request.id.as_deref().map(run_id).transpose()?,
        at: request.from.as_deref().map(location).transpose()?,
        edited: request.result,
    };
    let asked = call.asked(request.reason);
    let done = call.engine().fork(fork, asked).await?;
    answer(StatusCode::OK, &told(&done))
}

pub(crate) async fn delete(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(DELETE_PARAMETERS)?;
    let asked = call.asked(parameters.text("reason").map(str::to_owned));
    let run = call.run()?;
    let done = call.engine().control(&run, Control::Delete, asked).await?;
    answer(StatusCode::OK, &told(&done))
}

/// What was done, for the wire.
pub(super) fn told(done: &Done) -> ControlAnswer {
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
