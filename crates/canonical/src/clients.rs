//! Requests of clients in the scenarios. All of them can be repeated.

use std::time::Duration;

use everstep::schemars::{self, JsonSchema};
use everstep::{Engine, Event, Payload, RunHandle, RunStatus, millis};
use serde::{Deserialize, Serialize};

use crate::assertions::AssertionFailed;
use crate::outside::Outside;
use crate::scenario::WORKFLOW;

/// How often a client polls before it gives up.
const LOOKS_MAX: u32 = 200;
/// The maximum delay between two polls.
const CHECK_INTERVAL_MAX: Duration = Duration::from_secs(1);

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ping(pub(crate) u32);

impl Event for Ping {
    const NAME: &'static str = "ping";
}

/// Starts run `r`, or finds it again.
pub(crate) async fn run(engine: &Engine) -> Result<RunHandle, AssertionFailed> {
    Ok(engine
        .start_by_name(WORKFLOW, Payload::null())
        .id("r")
        .await?)
}

/// Sends an event with a deduplication ID, so that it takes effect once even if the scenario is
/// repeated.
pub(crate) async fn send<E: Event + Serialize>(
    run: &RunHandle,
    event: &E,
    id: &str,
) -> Result<(), AssertionFailed> {
    let payload = Payload::from_value(event)?;
    let sent = run
        .send_by_name(E::NAME, payload, Some(id.to_owned()))
        .await;
    match sent {
        Ok(_) => Ok(()),
        // A run that has ended needs no event.
        Err(_) if run.status().await?.is_terminal() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits until the run has one of these statuses or has ended.
pub(crate) async fn reach(
    run: &RunHandle,
    outside: &Outside,
    statuses: &[RunStatus],
) -> Result<(), AssertionFailed> {
    let mut patience = Patience::default();
    loop {
        let status = run.status().await?;
        if statuses.contains(&status) || status.is_terminal() {
            return Ok(());
        }
        patience.wait(run, outside).await?;
    }
}

/// Polling with increasing delays.
#[derive(Default)]
pub(crate) struct Patience {
    looks: u32,
}

impl Patience {
    /// Waits until the next poll.
    pub(crate) async fn wait(
        &mut self,
        run: &RunHandle,
        outside: &Outside,
    ) -> Result<(), AssertionFailed> {
        if self.looks == LOOKS_MAX {
            let why = run.why().await?;
            return Err(AssertionFailed::new(format!(
                "the run makes no progress: {why}"
            )));
        }
        let pause = millis(1 << self.looks.min(10)).min(CHECK_INTERVAL_MAX);
        self.looks += 1;
        outside.sleep(pause).await;
        Ok(())
    }
}
