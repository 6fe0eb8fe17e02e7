//! How long the demo workflows wait: as long as in real life, or a few seconds, so that somebody can watch.

use std::time::Duration;

use everstep::{days, hours, millis, minutes, secs};

/// The waiting times of all demo workflows.
///
/// They belong to the workflow types, not to the input of a run. That is safe: a run records when its sleep or its
/// wait ends, so a run that was started at one pace keeps it, whatever the code says after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long a step pretends to work.
    pub work: Duration,
    /// How long a payment rests before somebody looks at it.
    pub cool_off: Duration,
    /// How long a reviewer has for a decision.
    pub approval: Duration,
    /// How long a customer may ask for the money back.
    pub refund_window: Duration,
}

impl Pace {
    /// As in real life: hours, days and weeks.
    #[must_use]
    pub fn real() -> Self {
        Self {
            work: millis(1),
            cool_off: hours(24),
            approval: days(7),
            refund_window: days(14),
        }
    }

    /// For an audience: everything is over in seconds, if somebody decides.
    #[must_use]
    pub fn brisk() -> Self {
        Self {
            work: millis(400),
            cool_off: secs(2),
            approval: minutes(10),
            refund_window: secs(1),
        }
    }

    /// What a step does instead of real work. Real time is fine *inside* a step; between steps use `ctx.sleep`.
    pub(crate) async fn pretend_to_work(&self) {
        tokio::time::sleep(self.work).await;
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::real()
    }
}
