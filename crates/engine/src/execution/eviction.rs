//! The task that evicts runs which have been suspended for long.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::Timestamp;

use super::parts::Parts;

/// The minimum interval between evictions, so that many runs that suspended together do not wake
/// the task one by one.
const INTERVAL_MIN: Duration = Duration::from_millis(250);

pub(crate) async fn evict_idle(parts: Arc<Parts>) {
    let Parts { node, resident, .. } = &*parts;
    let idle_max = node.settings.hot_idle_max;
    let idle_millis = u64::try_from(idle_max.as_millis()).unwrap_or(u64::MAX);
    while !node.is_closing() {
        match resident.longest_idle_since() {
            None => drop(node.tasks.until_closing(resident.became_idle()).await),
            Some(since) => {
                let left = node.now().until(since.after(idle_max));
                node.rest(left.max(INTERVAL_MIN)).await;
            }
        }
        let now = node.now().as_millis();
        let before = Timestamp::from_millis(now.saturating_sub(idle_millis));
        resident.evict_idle_since(before);
    }
}
