//! How long to rest before something is tried again that went wrong.

use std::time::Duration;

use everstep_engine::Runtime;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Longer after each failure, up to a few seconds, and never the same for two workers that failed together.
#[derive(Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Rests.
    pub(super) async fn rest(&mut self, runtime: &dyn Runtime) {
        let longest = FIRST * 2_u32.saturating_pow(self.failures.min(16));
        self.failures += 1;
        let longest = longest.min(LONGEST);
        let part = u32::try_from(runtime.random() % 1_000).unwrap_or(0);
        let rest = longest / 2 + longest / 2_000 * part;
        runtime.sleep(rest).await;
    }

    /// Something went well.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}
