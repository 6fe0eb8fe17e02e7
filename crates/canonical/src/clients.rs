//! What clients of canonical workflows do. All of it can be done again.

use std::time::Duration;

use everstep::{Engine, Event, Payload, RunHandle, RunStatus, millis};
use serde::{Deserialize, Serialize};

use crate::claims::Broken;
use crate::outside::Outside;
use crate::story::WORKFLOW;

/// How often a client looks before it gives up.
const LOOKS_MAX: u32 = 200;
/// How long it waits between two looks at most.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(1);

#[derive(Serialize, Deserialize)]
pub(crate) struct Ping(pub(crate) u32);

impl Event for Ping {
    const NAME: &'static str = "ping";
}

/// Run `r`, started or found again.
pub(crate) async fn run(engine: &Engine) -> Result<RunHandle, Broken> {
    Ok(engine
        .start_by_name(WORKFLOW, Payload::null())
        .id("r")
        .await?)
}

/// Sends an event that the run takes once, however often the story is told.
pub(crate) async fn send<E: Event + Serialize>(
    run: &RunHandle,
    event: &E,
    id: &str,
) -> Result<(), Broken> {
    let payload = Payload::from_value(event)?;
    let sent = run
        .send_by_name(E::NAME, payload, Some(id.to_owned()))
        .await;
    match sent {
        Ok(_) => Ok(()),
        // A run that has ended needs it no more.
        Err(_) if run.status().await?.is_terminal() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits until the run is in one of these states, or over.
pub(crate) async fn reach(
    run: &RunHandle,
    outside: &Outside,
    statuses: &[RunStatus],
) -> Result<(), Broken> {
    let mut patience = Patience::default();
    loop {
        let status = run.status().await?;
        if statuses.contains(&status) || status.is_terminal() {
            return Ok(());
        }
        patience.wait(run, outside).await?;
    }
}

/// What somebody has who looks again and again, less and less often.
#[derive(Default)]
pub(crate) struct Patience {
    looks: u32,
}

impl Patience {
    /// Waits until it is time to look again.
    pub(crate) async fn wait(&mut self, run: &RunHandle, outside: &Outside) -> Result<(), Broken> {
        if self.looks == LOOKS_MAX {
            let why = run.why().await?;
            return Err(Broken::new(format!("it stands still: {why}")));
        }
        let pause = millis(1 << self.looks.min(10)).min(LOOK_EVERY_MAX);
        self.looks += 1;
        outside.sleep(pause).await;
        Ok(())
    }
}
