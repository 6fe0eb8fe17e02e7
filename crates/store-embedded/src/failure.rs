//! Maps failures of the key-value store and of I/O to errors of the contract.

use std::io;

use everstep_model::{DecodeError, FORMAT_VERSION};
use everstep_store::StoreError;
use fjall::LsmError;

use everstep_store::encoding::{Unreadable, VERSION};

/// Says what a failure of the key-value store means for the store at `place`.
pub(crate) fn of_fjall(place: &str, error: &fjall::Error) -> StoreError {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => {
            match error.kind() {
                // Files it names itself, and places in them: they were there when they were
                // written.
                io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => StoreError::Corrupt {
                    place: place.to_owned(),
                    detail: error.to_string(),
                },
                _ => of_io(place, error),
            }
        }
        fjall::Error::Locked => StoreError::Locked {
            place: place.to_owned(),
        },
        fjall::Error::Poisoned => StoreError::Poisoned {
            detail: format!("{place}: a background write failed"),
        },
        other => StoreError::Corrupt {
            place: place.to_owned(),
            detail: other.to_string(),
        },
    }
}

/// Says what an I/O error means for the store at `place`.
pub(crate) fn of_io(place: &str, error: &io::Error) -> StoreError {
    let place = place.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { place },
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => StoreError::Corrupt {
            place,
            detail: error.to_string(),
        },
        _ => StoreError::Unavailable {
            detail: format!("{place}: {error}"),
        },
    }
}

/// The bytes of something in the store cannot be read.
pub(crate) fn of_value(place: &str, what: &str, error: Unreadable) -> StoreError {
    let place = format!("{place} ({what})");
    match error {
        Unreadable::Newer(found) => StoreError::Newer {
            place,
            found: found.into(),
            known: VERSION.into(),
        },
        Unreadable::Damaged(damaged) => StoreError::Corrupt {
            place,
            detail: damaged.0.to_owned(),
        },
    }
}

/// A frame cannot be read.
pub(crate) fn of_frame(place: &str, what: &str, error: &DecodeError) -> StoreError {
    let place = format!("{place} ({what})");
    match error {
        DecodeError::NewerFormat(found) => StoreError::Newer {
            place,
            found: u32::from(*found),
            known: FORMAT_VERSION.into(),
        },
        DecodeError::UnknownRecord(_) => StoreError::Unavailable {
            detail: format!("{place}: {error}"),
        },
        DecodeError::Damaged(_) => StoreError::Corrupt {
            place,
            detail: error.to_string(),
        },
    }
}

/// Logs a damaged row that a query leaves out, so that the gap in its result is visible.
pub(crate) fn left_out(of_what: &str, error: &StoreError) {
    tracing::error!(%error, "a row that is damaged is left out of the {of_what}");
}

/// What follows from other rows is made again from those.
pub(crate) fn made_again(what: &str, error: &StoreError) {
    tracing::error!(%error, "{what} is damaged and made again");
}
