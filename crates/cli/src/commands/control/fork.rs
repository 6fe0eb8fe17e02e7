//! `everstep fork`: starts a new run as a copy of another one.

use clap::Args;
use everstep_protocol::client::segment;
use everstep_protocol::workflow::ForkRequest;

use super::report::print_answer;
use crate::arguments::parse_json;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep fork order-7 --id order-7-try
  everstep fork order-7 --from charge:0 --result '\"charge-1\"'";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fork {
    /// ID of the run to copy
    run: String,
    /// ID of the new run [default: random]
    #[arg(long)]
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
        let path = format!("workflows/{}/fork", segment(&self.run));
        print_answer(&context.out, &context.server.post(&path, &request).await?)
    }
}
