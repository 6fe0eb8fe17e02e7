//! The control verbs: `POST /workflows/{id}/{verb}`, `POST /workflows/{id}/steps/{step}/{verb}` and
//! `DELETE /workflows/{id}`. The id of a step is its location, with each slash encoded as `%2F`.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::{Because, Control, Done, Effect, ForkRun, Revival, Settlement};
use everstep_protocol::workflow::{
    CancelRequest, ControlAnswer, ControlRequest, EditRequest, EffectWord, ForkRequest,
    RestartRequest, SkipRequest,
};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::call::Call;
use super::{control_message, operation};
use crate::failure::Failure;
use crate::json;
use crate::parameters::{Parameter, parameters};

pub(crate) const DELETE_PARAMETERS: &[Parameter] = parameters! {
    "reason": Text, "The reason, for the journal of a run that is terminated first.";
};

/// Returns the request of a verb, which is in the body. Verbs have no query.
fn read<T: DeserializeOwned>(call: &Call) -> Result<T, Failure> {
    call.parameters(&[])?;
    call.request()
}

type Responding = BoxFuture<'static, Result<Response, Failure>>;

/// Returns the handler of a verb whose request has no other fields than the reason.
pub(crate) fn plain(control: Control) -> impl Fn(Call) -> Responding + Clone {
    move |call| {
        Box::pin(async move {
            let request: ControlRequest = read(&call)?;
            apply(&call, control, request.reason).await
        })
    }
}

pub(crate) async fn cancel(call: Call) -> Result<Response, Failure> {
    let request: CancelRequest = read(&call)?;
    let rollback = request.rollback;
    apply(&call, Control::Cancel { rollback }, request.reason).await
}

pub(crate) async fn delete(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(DELETE_PARAMETERS)?;
    let reason = parameters.text("reason").map(str::to_owned);
    apply(&call, Control::Delete, reason).await
}

async fn apply(call: &Call, control: Control, reason: Option<String>) -> Result<Response, Failure> {
    let origin = call.origin(reason);
    let done = call.engine().control(&call.run()?, control, origin).await?;
    Ok(respond(&done, control_message::of_control(&done, control)))
}

pub(crate) async fn restart(call: Call) -> Result<Response, Failure> {
    let request: RestartRequest = read(&call)?;
    let origin = call.origin(request.reason.clone());
    let run = call.run()?;
    let (from, edited) = match (request.from, request.result) {
        (Some(from), edited) => (operation::find(&call, &run, &from).await?, edited),
        (None, None) => return apply(&call, Control::Restart, request.reason).await,
        (None, Some(_)) => {
            let detail = "`result` needs `from`, the step it belongs to";
            return Err(Failure::invalid(detail));
        }
    };
    let at = from.clone();
    let revival = Revival::RestartFrom { at, edited };
    let done = call.engine().revive(&run, revival, origin).await?;
    Ok(respond(&done, control_message::of_restart(&done, &from)))
}

pub(crate) async fn fork(call: Call) -> Result<Response, Failure> {
    let request: ForkRequest = read(&call)?;
    let run = call.run()?;
    let at = match &request.from {
        Some(from) => Some(operation::find(&call, &run, from).await?),
        None => None,
    };
    let fork = ForkRun {
        run,
        id: call.new_id(request.id.as_deref())?,
        at,
        edited: request.result,
    };
    let (run, at) = (fork.run.clone(), fork.at.clone());
    let origin = call.origin(request.reason);
    let done = call.engine().fork(fork, origin).await?;
    let message = control_message::of_fork(&done, &run, at.as_ref());
    Ok(respond(&done, message))
}

pub(crate) async fn skip_step(call: Call) -> Result<Response, Failure> {
    let request: SkipRequest = read(&call)?;
    settle(&call, Settlement::Skip(request.result), request.reason).await
}

pub(crate) async fn edit_step(call: Call) -> Result<Response, Failure> {
    let request: EditRequest = read(&call)?;
    settle(&call, Settlement::Edit(request.result), request.reason).await
}

pub(crate) async fn fail_operation(call: Call) -> Result<Response, Failure> {
    let request: ControlRequest = read(&call)?;
    let message = request.reason.as_deref();
    let message = message.unwrap_or("an operator made it fail").to_owned();
    settle(&call, Settlement::Fail(message), request.reason).await
}

async fn settle(
    call: &Call,
    settlement: Settlement,
    reason: Option<String>,
) -> Result<Response, Failure> {
    let run = call.run()?;
    let at = operation::find(call, &run, call.path_parameter("step")).await?;
    let (engine, origin) = (call.engine(), call.origin(reason));
    let done = engine.settle(&run, &at, settlement.clone(), origin).await?;
    let message = control_message::of_settlement(&done, &at, &settlement);
    Ok(respond(&done, message))
}

fn respond(done: &Done, message: String) -> Response {
    json::respond(StatusCode::OK, &outcome(done, message))
}

pub(super) fn outcome(done: &Done, message: String) -> ControlAnswer {
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
        message,
    }
}
