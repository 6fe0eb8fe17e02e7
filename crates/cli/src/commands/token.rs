//! `everstep token`: creates a token, which gives a browser or another client access to one run or
//! to streams.

use clap::Args;
use everstep_protocol::access::{
    MintStreamToken, MintToken, MintedStreamToken, MintedToken, StreamRight, View,
};

use crate::arguments::values;
use crate::context::Context;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  everstep token order-7                                    read the client view
  everstep token expense-1 --rpc approveExpense             also answer this rpc
  everstep token expense-1 --rpc approveExpense --subject Ada
  everstep token order-7 --view state --event approval --lifetime 5m
  everstep token --stream chat/7 --allow read,append

Send the token in the header `Authorization: Bearer …`, never in a URL.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Token {
    /// ID of the run
    #[arg(value_parser = values::run_id, required_unless_present_any = ["stream", "stream_prefix"])]
    run: Option<String>,
    /// View that the token gives access to: full, state or client
    #[arg(long, default_value = "client", conflicts_with_all = STREAMS)]
    view: View,
    /// Rpc that the token allows to answer; may be repeated
    #[arg(long = "rpc", value_name = "METHOD", conflicts_with_all = STREAMS)]
    rpcs: Vec<String>,
    /// Event that the token allows to send; may be repeated
    #[arg(long = "event", value_name = "EVENT", conflicts_with_all = STREAMS)]
    events: Vec<String>,
    /// Person or program that gets the token, recorded as the author of its events and answers
    #[arg(long, value_name = "NAME", conflicts_with_all = STREAMS)]
    subject: Option<String>,
    /// Path of a stream that the token gives access to, instead of a run
    #[arg(long, value_name = "PATH", conflicts_with_all = ["run", "stream_prefix"])]
    stream: Option<String>,
    /// Prefix of the stream paths that the token gives access to, instead of a run
    #[arg(long, value_name = "PREFIX", conflicts_with = "run")]
    stream_prefix: Option<String>,
    /// What the token allows for streams: read, append or both, separated by a comma [default:
    /// read]
    #[arg(
        long = "allow",
        value_name = "RIGHT",
        value_delimiter = ',',
        conflicts_with = "run"
    )]
    allows: Vec<StreamRight>,
    /// Lifetime, such as 5m [default: the maximum that the server allows]
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    lifetime: Option<String>,
}

/// The arguments of a token for streams.
const STREAMS: [&str; 2] = ["stream", "stream_prefix"];

pub(crate) async fn run(arguments: &Token, context: &Context) -> anyhow::Result<Exit> {
    let (server, out) = (&context.server, &context.out);
    // Nothing but the token is printed, so that scripts can use the output.
    let Some(run) = &arguments.run else {
        let request = MintStreamToken {
            stream: arguments.stream.clone(),
            prefix: arguments.stream_prefix.clone(),
            allows: arguments.allows.clone(),
            lifetime: arguments.lifetime.clone(),
        };
        let minted: MintedStreamToken = server.post("tokens/streams", &request).await?;
        return out.result(&minted, &minted.token);
    };
    let request = MintToken {
        run: run.clone(),
        view: arguments.view,
        rpcs: arguments.rpcs.clone(),
        events: arguments.events.clone(),
        subject: arguments.subject.clone(),
        lifetime: arguments.lifetime.clone(),
    };
    let minted: MintedToken = server.post("tokens", &request).await?;
    out.result(&minted, &minted.token)
}
