//! The commands that control exactly one run: `fork`, `skip` and `edit`.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{EditRequest, ForkRequest, SkipRequest};
use serde::Serialize;

use super::report::print_answer;
use crate::arguments::{JsonArgument, RequiredJson, parse_json, values};
use crate::context::Context;
use crate::exit::Exit;

const FORK_EXAMPLES: &str = "\
Examples:
  everstep fork order-7 --id order-7-try
  everstep fork order-7 --from charge:0 --result '\"charge-1\"'";

const SKIP_EXAMPLES: &str = "\
Examples:
  everstep skip order-7 notify:0
  everstep skip order-7 charge:0 '\"charge-1\"' --reason 'charged by hand'

`everstep show RUN` lists the steps.";

const EDIT_EXAMPLES: &str = "\
Examples:
  everstep edit order-7 charge:0 '\"charge-1\"' --reason 'charged by hand'
  everstep edit order-7 quote:0 --file quote.json

`everstep show RUN` lists the steps.";

#[derive(Args, Debug)]
#[command(after_help = FORK_EXAMPLES)]
pub(crate) struct Fork {
    /// ID of the run to copy
    #[arg(value_parser = values::run_id)]
    run: String,
    /// ID of the new run [default: random]
    #[arg(long, value_parser = values::run_id)]
    id: Option<String>,
    /// Copy only what precedes this operation [default: everything]
    #[arg(long, value_name = "OPERATION")]
    from: Option<String>,
    /// Result of that step in the new run, in JSON
    #[arg(long, value_name = "JSON", requires = "from")]
    result: Option<String>,
    /// Reason to record in the journal
    #[arg(long)]
    reason: Option<String>,
}

impl Fork {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let request = ForkRequest {
            id: self.id.clone(),
            from: self.from.clone(),
            result: self.result.as_deref().map(parse_json).transpose()?,
            reason: self.reason.clone(),
        };
        post(context, &format!("{}/fork", segment(&self.run)), &request).await
    }
}

#[derive(Args, Debug)]
#[command(after_help = SKIP_EXAMPLES)]
pub(crate) struct Skip {
    /// ID of the run
    #[arg(value_parser = values::run_id)]
    run: String,
    /// Step, named as in `everstep show`
    step: String,
    #[command(flatten)]
    result: JsonArgument,
    /// Reason to record in the journal
    #[arg(long)]
    reason: Option<String>,
}

impl Skip {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let request = SkipRequest {
            result: self.result.read()?,
            reason: self.reason.clone(),
        };
        let (run, step) = (segment(&self.run), segment(&self.step));
        post(context, &format!("{run}/steps/{step}/skip"), &request).await
    }
}

#[derive(Args, Debug)]
#[command(after_help = EDIT_EXAMPLES)]
pub(crate) struct Edit {
    /// ID of the run
    #[arg(value_parser = values::run_id)]
    run: String,
    /// Step, named as in `everstep show`
    step: String,
    #[command(flatten)]
    result: RequiredJson,
    /// Reason to record in the journal
    #[arg(long)]
    reason: Option<String>,
}

impl Edit {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let request = EditRequest {
            result: self.result.read()?,
            reason: self.reason.clone(),
        };
        let (run, step) = (segment(&self.run), segment(&self.step));
        post(context, &format!("{run}/steps/{step}/edit"), &request).await
    }
}

/// Sends a control request and prints the answer. `path` begins with the run.
pub(super) async fn post(
    context: &Context,
    path: &str,
    request: &impl Serialize,
) -> anyhow::Result<Exit> {
    let path = format!("workflows/{path}");
    print_answer(&context.out, &context.server.post(&path, request).await?)
}
