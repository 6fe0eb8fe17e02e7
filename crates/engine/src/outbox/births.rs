//! Runs that are not there yet: their start is decided, and on its way.

use everstep_model::RunId;

use super::effect::Effect;
use crate::core::Core;
use crate::error::ReadError;

/// Effects read at once.
const PAGE: usize = 1_000;

impl Core {
    /// Whether somebody has decided to start a run that was not found. The effect goes only after the run has come, so who
    /// finds neither looks for the run once more.
    pub(super) async fn is_to_be_born(&self, run: &RunId) -> Result<bool, ReadError> {
        let mut after = None;
        loop {
            let page = self.store.outbox(after, PAGE).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = Some((last.stream, last.key.clone()));
            let starts_it =
                |effect| matches!(effect, Effect::StartChild(start) if start.run == *run);
            let mut effects = page
                .iter()
                .filter_map(|row| Effect::from_payload(&row.effect));
            if effects.any(starts_it) {
                return Ok(true);
            }
        }
        match self.find(run).await {
            Ok(_) => Ok(true),
            Err(ReadError::UnknownRun(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
