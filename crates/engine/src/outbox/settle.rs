//! Settling what a run that is about to be deleted still owes to others.

use std::sync::Arc;

use everstep_model::{RunId, StreamNumber};
use everstep_store::{OutboxRow, RowKey, StoreError};

use super::delivery::Delivery;
use super::effect::Effect;
use crate::core::Core;
use crate::error::{ControlError, WrongState};

/// Effects read at once.
const PAGE: usize = 256;

impl Core {
    /// Delivers every effect of a run that is over, and gives the keys of their rows. What it waited for does not matter
    /// any more.
    pub(crate) async fn settle_effects_of(
        self: &Arc<Self>,
        run: &RunId,
        stream: StreamNumber,
    ) -> Result<Vec<RowKey>, ControlError> {
        let mut keys = Vec::new();
        for row in self.effects_of(stream).await? {
            let delivered = match Effect::from_payload(&row.effect) {
                Some(effect) => self.deliver_effect(effect).await,
                None => Delivery::Elsewhere,
            };
            match delivered {
                Delivery::Done | Delivery::Awaiting(_) => {
                    keys.push(RowKey::Outbox(row.stream, row.key));
                }
                Delivery::Later(_) | Delivery::Elsewhere => {
                    return Err(WrongState {
                        run: run.clone(),
                        detail:
                            "what it did to another run has not come there yet; try again later"
                                .to_owned(),
                    }
                    .into());
                }
            }
        }
        Ok(keys)
    }

    async fn effects_of(&self, stream: StreamNumber) -> Result<Vec<OutboxRow>, StoreError> {
        let before = StreamNumber(stream.0.saturating_sub(1));
        let mut after = Some((before, char::MAX.to_string()));
        let mut rows: Vec<OutboxRow> = Vec::new();
        loop {
            let page = self.store.outbox(after, PAGE).await?;
            let is_full = page.len() == PAGE;
            let known = rows.len();
            rows.extend(page.into_iter().take_while(|row| row.stream == stream));
            if !is_full || rows.len() - known < PAGE {
                return Ok(rows);
            }
            after = rows.last().map(|row| (row.stream, row.key.clone()));
        }
    }
}
