//! Maps failures of the key-value store and of I/O to errors of the contract.

use std::borrow::Borrow;
use std::io;

use everstep_model::DecodeError;
use everstep_store::StoreError;
use fjall::LsmError;

/// Maps a failure of the key-value store in the directory `place`.
pub(crate) fn of_fjall(place: &str, error: &fjall::Error) -> StoreError {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => {
            match error.kind() {
                // The key-value store names only files and offsets that it has written.
                io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => {
                    StoreError::corrupt(place, error.to_string())
                }
                _ => of_io(place)(error),
            }
        }
        fjall::Error::Locked => StoreError::Locked {
            place: place.to_owned(),
        },
        fjall::Error::Poisoned => StoreError::Poisoned {
            detail: format!("{place}: a background write failed"),
        },
        other => StoreError::corrupt(place, other.to_string()),
    }
}

/// Maps an I/O error of the file or directory `place`.
pub(crate) fn of_io<E: Borrow<io::Error>>(place: &str) -> impl Fn(E) -> StoreError + '_ {
    move |error| {
        let error = error.borrow();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full {
                place: place.to_owned(),
            },
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                StoreError::corrupt(place, error.to_string())
            }
            _ => StoreError::Unavailable {
                detail: format!("{place}: {error}"),
            },
        }
    }
}

/// Maps the failure to decode a frame of `what`.
pub(crate) fn of_frame(place: &str, what: &str, error: &DecodeError) -> StoreError {
    let place = format!("{place} ({what})");
    match error {
        DecodeError::UnknownRecord(_) => StoreError::Unavailable {
            detail: format!("{place}: {error}"),
        },
        DecodeError::NewerFormat(_) | DecodeError::Damaged(_) => {
            StoreError::unreadable_frame(place, error)
        }
    }
}

/// Logs a damaged row that a query skips, so that the gap in its result is visible.
pub(crate) fn log_skipped(query: &str, error: &StoreError) {
    tracing::error!(%error, query, "damaged row skipped");
}
