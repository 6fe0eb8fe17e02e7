//! How long finished runs are kept.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_model::RunStatus;

/// How long finished runs are kept, by final status. Runs with other statuses are kept forever.
///
/// ```
/// use std::time::Duration;
/// use everstep_engine::Retention;
/// use everstep_model::RunStatus;
///
/// let day = Duration::from_secs(24 * 3_600);
/// let retention = Retention::forever()
///     .keep(RunStatus::Completed, 30 * day)
///     .keep(RunStatus::Failed, 90 * day);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention(BTreeMap<RunStatus, Duration>);

impl Retention {
    /// Keeps all runs.
    #[must_use]
    pub fn forever() -> Self {
        Self::default()
    }

    /// Deletes runs with this final status after this time. Runs in progress are never deleted.
    #[must_use]
    pub fn keep(mut self, status: RunStatus, age: Duration) -> Self {
        if status.is_terminal() {
            self.0.insert(status, age);
        }
        self
    }

    /// Returns how long runs with this status are kept. `None` if they are kept forever.
    #[must_use]
    pub fn period(&self, status: RunStatus) -> Option<Duration> {
        self.0.get(&status).copied()
    }

    /// Returns whether all runs are kept.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn periods(&self) -> impl Iterator<Item = (RunStatus, Duration)> {
        self.0.iter().map(|(status, age)| (*status, *age))
    }
}
