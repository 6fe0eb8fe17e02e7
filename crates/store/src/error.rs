//! Failures of a store as a whole. A refused commit is not an error: see [`crate::Refusal`].

use everstep_model::{DecodeError, ErrorCode, FORMAT_VERSION};

/// A failure of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain variants and fields")]
pub enum StoreError {
    #[error("{place} is open in another process; stop that process or choose another directory")]
    Locked { place: String },
    #[error(
        "{place} is open in this process; drop the engine that has it open, and all handles of its runs, or choose another directory"
    )]
    LockedHere { place: String },
    #[error(
        "{place} has format version {found}, this release reads up to {known}; upgrade Everstep"
    )]
    Newer {
        place: String,
        found: u32,
        known: u32,
    },
    #[error("{place} is damaged: {detail}; restore it from a backup")]
    Corrupt { place: String, detail: String },
    #[error("no space is left for {place}; free space and reopen the store")]
    Full { place: String },
    /// The store cannot be reached, read or written.
    #[error("the store is unavailable: {detail}")]
    Unavailable { detail: String },
    /// A write or sync failed, so it is unknown whether the last batch is durable.
    #[error("the store accepts no more writes ({detail}); reopen it")]
    Poisoned { detail: String },
    /// A setting would lose data.
    #[error("unsafe setting {setting}: {remedy}")]
    Unsafe { setting: String, remedy: String },
}

impl StoreError {
    /// Returns a [`StoreError::Corrupt`].
    pub fn corrupt(place: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Corrupt {
            place: place.into(),
            detail: detail.into(),
        }
    }

    /// Returns the error of a store that cannot decode a frame in `place`.
    #[must_use]
    pub fn unreadable_frame(place: String, error: &DecodeError) -> Self {
        match error {
            DecodeError::NewerFormat(found) => Self::Newer {
                place,
                found: (*found).into(),
                known: FORMAT_VERSION.into(),
            },
            DecodeError::UnknownRecord(_) | DecodeError::Damaged(_) => {
                Self::corrupt(place, error.to_string())
            }
        }
    }

    /// Returns whether stored data cannot be read. Retrying does not help; other data may be
    /// intact.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Newer { .. })
    }

    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Locked { .. } | Self::LockedHere { .. } => ErrorCode::StoreLocked,
            Self::Newer { .. } => ErrorCode::StoreNewer,
            Self::Corrupt { .. } => ErrorCode::StoreCorrupt,
            Self::Full { .. } => ErrorCode::StoreFull,
            Self::Unavailable { .. } => ErrorCode::StoreUnavailable,
            Self::Poisoned { .. } => ErrorCode::StorePoisoned,
            Self::Unsafe { .. } => ErrorCode::StoreUnsafe,
        }
    }
}
