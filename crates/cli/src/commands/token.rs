//! `everstep token`: creates a run token, which gives a browser or another client access to one
//! run.

use clap::Args;
use everstep_protocol::access::{MintToken, MintedToken, View};

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep token order-7                                    read the client view
  everstep token expense-1 --rpc approveExpense             also answer this rpc
  everstep token order-7 --view state --event approval --lifetime 5m

Send the token in the header `Authorization: Bearer …`, never in a URL.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Token {
    /// ID of the run
    #[arg(value_parser = values::run_id)]
    run: String,
    /// View that the token gives access to: full, state or client
    #[arg(long, default_value = "client")]
    view: View,
    /// Rpc that the token allows to answer; may be repeated
    #[arg(long = "rpc", value_name = "METHOD")]
    rpcs: Vec<String>,
    /// Event that the token allows to send; may be repeated
    #[arg(long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// Lifetime, such as 5m [default: the maximum that the server allows]
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    lifetime: Option<String>,
}

pub(crate) async fn run(arguments: &Token, context: &Context) -> anyhow::Result<Exit> {
    let request = MintToken {
        run: arguments.run.clone(),
        view: arguments.view,
        rpcs: arguments.rpcs.clone(),
        events: arguments.events.clone(),
        lifetime: arguments.lifetime.clone(),
    };
    let minted: MintedToken = context.server.post("tokens", &request).await?;
    // Nothing but the token, so that scripts can use the output.
    context.out.result(&minted, &minted.token)
}
