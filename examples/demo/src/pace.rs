//! The waiting times of the demo workflows: realistic, or a few seconds for demonstrations.

use std::time::Duration;

use everstep::{days, hours, millis, minutes, secs};

/// The waiting times of all demo workflows.
///
/// They belong to the workflow types, not to the input of a run. That is safe, because a run
/// records when its sleep or wait ends: a run keeps the times it was started with, even if they
/// change with a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Duration of a step.
    pub work: Duration,
    /// Time between the charge and the review.
    pub cool_off: Duration,
    /// Time for the reviewer's decision.
    pub approval: Duration,
    /// Time in which a customer can request a refund.
    pub refund_window: Duration,
}

impl Pace {
    /// Realistic times: hours, days and weeks.
    #[must_use]
    pub fn real() -> Self {
        Self {
            work: millis(1),
            cool_off: hours(24),
            approval: days(7),
            refund_window: days(14),
        }
    }

    /// Short times for demonstrations: a decided payment ends within seconds.
    #[must_use]
    pub fn brisk() -> Self {
        Self {
            work: millis(400),
            cool_off: secs(2),
            approval: minutes(10),
            refund_window: secs(1),
        }
    }

    /// Simulates work in a step that returns what it did.
    pub(crate) async fn work(self, done: String) -> everstep::Result<String> {
        self.pretend_to_work().await;
        Ok(done)
    }

    /// Simulates work in a step. Real time is fine *inside* a step; between steps use `ctx.sleep`.
    pub(crate) async fn pretend_to_work(&self) {
        tokio::time::sleep(self.work).await;
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::real()
    }
}
