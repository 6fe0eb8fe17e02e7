//! `everstep restart`: starts runs again from the beginning, or one run from one of its operations.

use clap::Args;
use everstep_model::Control;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::RestartRequest;

use super::apply::apply;
use super::report::print_answer;
use super::targets::Targets;
use crate::arguments::parse_json;
use crate::context::Context;
use crate::exit::Exit;
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep restart order-7
  everstep restart order-7 --from charge:0";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Restart {
    #[command(flatten)]
    targets: Targets,
    /// Restart a single run from this operation and keep the operations before it
    #[arg(long, value_name = "OPERATION")]
    from: Option<String>,
    /// Result of that step in the restarted run, in JSON
    #[arg(long, value_name = "JSON", requires = "from")]
    result: Option<String>,
}

impl Restart {
    pub(crate) async fn run(&self, context: &Context) -> anyhow::Result<Exit> {
        let Some(from) = &self.from else {
            return apply(Control::Restart, &self.targets, context).await;
        };
        let run = self.targets.single().ok_or_else(|| UsageError {
            what: "`--from` requires exactly one run".to_owned(),
            remedy: "everstep restart RUN --from OPERATION".to_owned(),
        })?;
        let request = RestartRequest {
            reason: self.targets.reason.clone(),
            from: Some(from.clone()),
            result: self.result.as_deref().map(parse_json).transpose()?,
        };
        let path = format!("workflows/{}/restart", segment(run));
        print_answer(&context.out, &context.server.post(&path, &request).await?)
    }
}
