//! Runs that wait for an event, and the time from sending it until the code after it runs.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use everstep::schemars::{self, JsonSchema};
use everstep::{Accepts, Ctx, Event, Payload, RunHandle, RunStatus, Workflow};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// How often the status of a run is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Go;

impl Event for Go {
    const NAME: &'static str = "go";
}

/// The workflow's side: reports when a run continues.
pub(crate) type Resumes = mpsc::UnboundedSender<Instant>;

/// Waits for the event and reports when the run continues.
pub(crate) async fn pause<W>(ctx: &Ctx<W>, resumes: &Resumes) -> everstep::Result<()>
where
    W: Workflow + Accepts<Go>,
{
    ctx.event::<Go>().await?;
    // The receiver is dropped only at the end of the benchmark.
    let _ = resumes.send(Instant::now());
    Ok(())
}

pub(crate) async fn wait_until_paused(run: &RunHandle) -> anyhow::Result<()> {
    loop {
        match run.status().await? {
            RunStatus::Waiting => return Ok(()),
            status if status.is_terminal() => bail!("the run was {status} before it waited"),
            _ => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

/// Sends the event and returns the time until the workflow code continues.
pub(crate) async fn resume(
    run: &RunHandle,
    resumed: &mut mpsc::UnboundedReceiver<Instant>,
) -> anyhow::Result<Duration> {
    let payload = Payload::from_value(&Go)?;
    let sent = Instant::now();
    run.send_by_name(Go::NAME, payload, None).await?;
    let at = resumed.recv().await.context("the workflow was dropped")?;
    Ok(at.duration_since(sent))
}
