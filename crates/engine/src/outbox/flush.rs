//! Delivers the remaining effects of a run that is about to be deleted.

use everstep_model::{RunId, StreamNumber};
use everstep_store::{BoxFuture, RowKey};

use super::delivery::{Deliverer, Delivery};
use crate::commit::projection::Effect;
use crate::error::{ControlError, WrongState};
use crate::requests::control::OutboxFlush;

const UNDELIVERED: &str = "an effect of it on another run is not delivered yet; try again later";

impl OutboxFlush for Deliverer {
    fn flush<'a>(
        &'a self,
        run: &'a RunId,
        stream: StreamNumber,
    ) -> BoxFuture<'a, Result<Vec<RowKey>, ControlError>> {
        Box::pin(async move {
            let mut keys = Vec::new();
            for row in self.parts.node.outbox_of(stream).await? {
                let delivered = match Effect::from_payload(&row.effect) {
                    Some(effect) => self.deliver(effect).await,
                    None => Delivery::Elsewhere,
                };
                match delivered {
                    // The run has ended, so it no longer waits for others.
                    Delivery::Done | Delivery::Awaiting(_) => {
                        keys.push(RowKey::Outbox(row.stream, row.key));
                    }
                    Delivery::Later(_) | Delivery::Elsewhere => {
                        let detail = UNDELIVERED.to_owned();
                        let run = run.clone();
                        return Err(WrongState { run, detail }.into());
                    }
                }
            }
            Ok(keys)
        })
    }
}
