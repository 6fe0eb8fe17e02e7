//! Failures of a store as a whole. A refused commit is not an error: see [`crate::Refusal`].

use everstep_model::ErrorCode;

/// A failure of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has it open.
    #[error("{place} is open in another process; stop that process or choose another directory")]
    Locked {
        /// What is locked.
        place: String,
    },
    /// A newer release wrote it.
    #[error(
        "{place} has format version {found}, this release reads up to {known}; upgrade Everstep"
    )]
    Newer {
        /// What is newer.
        place: String,
        /// Its version.
        found: u32,
        /// The newest this release knows.
        known: u32,
    },
    /// Stored data is damaged.
    #[error("{place} is damaged: {detail}; restore it from a backup")]
    Corrupt {
        /// What is damaged.
        place: String,
        /// How.
        detail: String,
    },
    /// No space is left.
    #[error("no space is left for {place}; free space and reopen the store")]
    Full {
        /// Where.
        place: String,
    },
    /// The store cannot be reached, read or written.
    #[error("the store is unavailable: {detail}")]
    Unavailable {
        /// Why.
        detail: String,
    },
    /// A sync failed, so it is unknown whether the last batch is durable. Reopen the store.
    #[error("the store refuses writes since a sync failed ({detail}); reopen it")]
    Poisoned {
        /// Why.
        detail: String,
    },
    /// A setting would lose data.
    #[error("unsafe setting {setting}: {remedy}")]
    Unsafe {
        /// The setting.
        setting: String,
        /// What to set instead.
        remedy: String,
    },
}

impl StoreError {
    /// Whether stored data cannot be read. Retrying does not help; other data may be intact.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Newer { .. })
    }

    /// The stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Locked { .. } => ErrorCode::StoreLocked,
            Self::Newer { .. } => ErrorCode::StoreNewer,
            Self::Corrupt { .. } => ErrorCode::StoreCorrupt,
            Self::Full { .. } => ErrorCode::StoreFull,
            Self::Unavailable { .. } => ErrorCode::StoreUnavailable,
            Self::Poisoned { .. } => ErrorCode::StorePoisoned,
            Self::Unsafe { .. } => ErrorCode::StoreUnsafe,
        }
    }
}
