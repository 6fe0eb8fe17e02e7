//! `everstep token`: a run token, for a browser or anybody else who may see one run.

use clap::Args;
use everstep_protocol::access::{MintToken, MintedToken, View};

use crate::ending::Ending;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  everstep token order-7                                    read what is meant for clients
  everstep token expense-1 --rpc approveExpense             and answer that question
  everstep token order-7 --view state --event approval --lifetime 5m

The token goes into the header `Authorization: Bearer …`, never into an address.";

/// Makes a token that is good for one run: one view, named rpcs and events, for a few minutes.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Token {
    /// The run.
    run: String,
    /// What its holder may read: full, state or client.
    #[arg(long, default_value = "client")]
    view: View,
    /// A question its holder may answer; may be given more than once.
    #[arg(long = "rpc", value_name = "METHOD")]
    rpcs: Vec<String>,
    /// An event its holder may send; may be given more than once.
    #[arg(long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// How long it is good, such as 5m; as long as the server allows by default.
    #[arg(long, value_name = "DURATION")]
    lifetime: Option<String>,
}

pub(crate) async fn run(arguments: &Token, session: &Session) -> anyhow::Result<Ending> {
    let request = MintToken {
        run: arguments.run.clone(),
        view: arguments.view,
        rpcs: arguments.rpcs.clone(),
        events: arguments.events.clone(),
        lifetime: arguments.lifetime.clone(),
    };
    let minted: MintedToken = session.server.post("tokens", &request).await?;
    match session.out.is_json {
        true => session.out.json(&minted)?,
        // The token alone, so that a script can take it as it is.
        false => session.out.line(&minted.token)?,
    }
    Ok(Ending::Well)
}
