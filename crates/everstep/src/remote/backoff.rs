//! Delays between attempts.

use std::time::Duration;

use everstep_engine::Runtime;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Exponential backoff with jitter, so that workers that failed together do not return together.
#[derive(Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(super) async fn wait(&mut self, runtime: &dyn Runtime) {
        let longest = FIRST * 2_u32.saturating_pow(self.failures.min(16));
        let longest = longest.min(LONGEST);
        self.failures += 1;
        let part = u32::try_from(runtime.random() % 1_000).unwrap_or(0);
        let delay = longest / 2 + longest / 2_000 * part;
        runtime.sleep(delay).await;
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}
