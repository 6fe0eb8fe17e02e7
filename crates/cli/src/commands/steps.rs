//! `everstep skip`, `edit` and `fail --step`: what operators do with one operation of a run.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{ControlAnswer, ControlRequest, SettleRequest, Verb};

use super::control::{Many, plain, tell_one};
use super::payload::Json;
use crate::ending::{Ending, UsageError};
use crate::session::Session;

/// A step, and the result it is taken to have had.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep skip order-7 notify:0 null\n  everstep edit order-7 charge:0 '\"charge-1\"' --reason 'charged by hand'\n\n`everstep show RUN` lists the steps."
)]
pub(crate) struct Settle {
    /// The run.
    run: String,
    /// The step, as `everstep show` names it.
    step: String,
    #[command(flatten)]
    result: Json,
    /// Why; it is written down.
    #[arg(long)]
    reason: Option<String>,
}

/// Runs, or one operation of one run.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  everstep fail order-7 --reason 'the customer is gone'\n  everstep fail order-7 --step charge:0"
)]
pub(crate) struct Fail {
    #[command(flatten)]
    many: Many,
    /// Only this operation of the run fails, as `everstep show` names it; the run goes on with that.
    #[arg(long)]
    step: Option<String>,
}

pub(crate) async fn skip(arguments: &Settle, session: &Session) -> anyhow::Result<Ending> {
    settle(arguments, "skip", session).await
}

pub(crate) async fn edit(arguments: &Settle, session: &Session) -> anyhow::Result<Ending> {
    settle(arguments, "edit", session).await
}

async fn settle(arguments: &Settle, verb: &str, session: &Session) -> anyhow::Result<Ending> {
    let request = SettleRequest {
        result: arguments.result.read()?,
        reason: arguments.reason.clone(),
    };
    let (run, step) = (segment(&arguments.run), segment(&arguments.step));
    let path = format!("workflows/{run}/steps/{step}/{verb}");
    let done: ControlAnswer = session.server.post(&path, &request).await?;
    tell_one(&session.out, &done)
}

pub(crate) async fn fail(arguments: &Fail, session: &Session) -> anyhow::Result<Ending> {
    let Some(step) = &arguments.step else {
        return plain(Verb::Fail, &arguments.many, session).await;
    };
    let run = arguments.many.only().ok_or_else(|| UsageError {
        what: "`--step` is an operation of one run".to_owned(),
        remedy: "everstep fail RUN --step OPERATION".to_owned(),
    })?;
    let request = ControlRequest {
        reason: arguments.many.reason().map(str::to_owned),
    };
    let path = format!("workflows/{}/steps/{}/fail", segment(run), segment(step));
    let done: ControlAnswer = session.server.post(&path, &request).await?;
    tell_one(&session.out, &done)
}
