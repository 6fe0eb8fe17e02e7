//! Runs whose start is recorded in the outbox and not delivered yet.

use everstep_model::RunId;
use everstep_store::StoreError;

use crate::commit::projection::Effect;
use crate::node::Node;

/// The number of effects read at once.
const PAGE: usize = 1_000;

/// Returns whether a run that was not found will be started, or has been meanwhile. The effect is
/// removed only after the run exists, so if neither is found, the run is looked up again.
pub(super) async fn is_start_pending(node: &Node, run: &RunId) -> Result<bool, StoreError> {
    let mut after = None;
    loop {
        let page = node.store.outbox(after, PAGE).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = Some((last.stream, last.key.clone()));
        let starts_it = |effect| matches!(effect, Effect::StartChild(start) if start.run == *run);
        let effects = page.iter().map(|row| &row.effect);
        if effects.filter_map(Effect::from_payload).any(starts_it) {
            return Ok(true);
        }
    }
    Ok(node.latest(run).await?.is_some())
}
