//! Waiting for a run to end, over requests that each wait a while.

use std::time::Duration;

use everstep_model::RunStatus;
use everstep_protocol::client::{Call, segment};
use everstep_protocol::workflow::RunView;

use crate::ending::Ending;
use crate::output::{Colour, Output, clean, short};
use crate::session::Session;

/// How long one request waits; the server may allow less.
const WAIT: &str = "25s";
const PATIENCE: Duration = Duration::from_secs(60);

/// The run as it is when it is over.
pub(crate) async fn ended(session: &Session, id: &str) -> anyhow::Result<RunView> {
    loop {
        let path = format!("workflows/{}?wait={WAIT}", segment(id));
        let call = Call::get(path).patience(PATIENCE);
        let run: RunView = session.server.send(call).await?.json()?;
        if run.status.is_terminal() {
            return Ok(run);
        }
    }
}

/// Says how a run ended.
pub(crate) fn tell(out: &Output, run: &RunView) -> anyhow::Result<Ending> {
    if out.is_json {
        out.json(run)?;
        return Ok(ending(run.status));
    }
    let status = out
        .paint
        .paint(Colour::of_run(run.status), run.status.as_str());
    let mut text = format!("{} is {status}", run.id);
    if let Some(result) = &run.result {
        text.push_str(&format!(": {}", clean(result.as_str())));
    }
    if let Some(error) = &run.error {
        text.push_str(&format!(
            ": {} [{}]",
            short(&error.message),
            clean(error.code.as_str())
        ));
    }
    out.line(&text)?;
    Ok(ending(run.status))
}

/// What a run that is over means for whoever waited.
pub(crate) fn ending(status: RunStatus) -> Ending {
    match status {
        RunStatus::Completed => Ending::Well,
        _ => Ending::RunFailed,
    }
}
