//! `everstep skip` and `everstep edit`: set the result of one step.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{ControlAnswer, SettleRequest};

use super::report::print_answer;
use crate::arguments::JsonArgument;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep skip order-7 notify:0 null
  everstep edit order-7 charge:0 '\"charge-1\"' --reason 'charged by hand'

`everstep show RUN` lists the steps.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StepResult {
    /// ID of the run
    run: String,
    /// Step, named as in `everstep show`
    step: String,
    #[command(flatten)]
    result: JsonArgument,
    /// Reason to record in the journal
    #[arg(long)]
    reason: Option<String>,
}

impl StepResult {
    /// Sends the request. `verb` is `skip` or `edit`.
    pub(crate) async fn run(&self, verb: &str, context: &Context) -> anyhow::Result<Exit> {
        let request = SettleRequest {
            result: self.result.read()?,
            reason: self.reason.clone(),
        };
        let (run, step) = (segment(&self.run), segment(&self.step));
        let path = format!("workflows/{run}/steps/{step}/{verb}");
        let answer: ControlAnswer = context.server.post(&path, &request).await?;
        print_answer(&context.out, &answer)
    }
}
