//! `everstep fail`: makes runs, or one operation of a run, fail.

use clap::Args;
use everstep_model::Control;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::{ControlAnswer, ControlRequest};

use super::apply::apply;
use super::report::print_answer;
use super::targets::Targets;
use crate::context::Context;
use crate::exit::Exit;
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep fail order-7 --reason 'the customer is gone'
  everstep fail order-7 --step charge:0";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fail {
    #[command(flatten)]
    targets: Targets,
    /// Fail only this operation of a single run, named as in `everstep show`; the run continues
    #[arg(long)]
    step: Option<String>,
}

impl Fail {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let Some(step) = &self.step else {
            return apply(Control::Fail, &self.targets, context).await;
        };
        let run = self.targets.single().ok_or_else(|| UsageError {
            what: "`--step` requires exactly one run".to_owned(),
            remedy: "everstep fail RUN --step OPERATION".to_owned(),
        })?;
        let request = ControlRequest {
            reason: self.targets.reason.clone(),
        };
        let path = format!("workflows/{}/steps/{}/fail", segment(run), segment(step));
        let answer: ControlAnswer = context.server.post(&path, &request).await?;
        print_answer(&context.out, &answer)
    }
}
