//! Maps errors of PostgreSQL to errors of the store.

use std::fmt::Display;

use everstep_model::{DecodeError, StreamNumber};
use everstep_store::StoreError;
use everstep_store::encoding::Unreadable;
use tokio_postgres::error::SqlState;

/// The history of the database has changed (`sql/leases.sql`).
const HISTORY_CHANGED: &str = "ES001";
/// The call read state that had changed when it wrote.
const STATE_CHANGED: &str = "ES002";
/// The isolation level does not allow commits to be judged.
const WRONG_ISOLATION: &str = "ES003";
/// The function belongs to an older format (`sql/upgrade.sql`).
const UPGRADED: &str = "ES004";

/// A failed call, by what the caller can do about it.
#[derive(Debug)]
pub(crate) enum CallError {
    /// Nothing was written. The call can be repeated.
    Again(StoreError),
    /// Nothing was written, because another transaction held a lock for too long.
    Busy(StoreError),
    /// All leases must be voided; then the call can be repeated.
    HistoryChanged,
    /// The function of this format does not exist or refuses calls, with the database's message.
    /// The format of the schema shows why.
    NoFunction(String),
    /// The connection was lost and the outcome is unknown.
    Lost(StoreError),
    /// The call failed permanently.
    Failed(StoreError),
}

impl CallError {
    /// The error for callers that do not look at the format of the schema.
    pub(crate) fn into_error(self) -> StoreError {
        match self {
            Self::Again(error) | Self::Busy(error) | Self::Lost(error) | Self::Failed(error) => {
                error
            }
            Self::NoFunction(detail) => StoreError::Unavailable { detail },
            Self::HistoryChanged => StoreError::Unavailable {
                detail: "the history of the database has changed".to_owned(),
            },
        }
    }
}

impl From<tokio_postgres::Error> for CallError {
    fn from(error: tokio_postgres::Error) -> Self {
        let unavailable = unavailable(&error);
        let Some(database) = error.as_db_error() else {
            return match error.is_closed() || is_io(&error) {
                true => Self::Lost(unavailable),
                false => Self::Failed(unavailable),
            };
        };
        let message = || database.message().to_owned();
        let place = "the database".to_owned();
        match database.code() {
            &SqlState::LOCK_NOT_AVAILABLE => Self::Busy(unavailable),
            &SqlState::UNIQUE_VIOLATION
            | &SqlState::T_R_DEADLOCK_DETECTED
            | &SqlState::T_R_SERIALIZATION_FAILURE => Self::Again(unavailable),
            // A server that has become a replica accepts no commits, so the connection counts as
            // lost.
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::READ_ONLY_SQL_TRANSACTION => Self::Lost(unavailable),
            &SqlState::UNDEFINED_FUNCTION => Self::NoFunction(message()),
            &SqlState::DISK_FULL => Self::Failed(StoreError::Full { place }),
            &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => {
                let detail = message();
                Self::Failed(StoreError::Corrupt { place, detail })
            }
            state => match state.code() {
                HISTORY_CHANGED => Self::HistoryChanged,
                STATE_CHANGED => Self::Again(unavailable),
                WRONG_ISOLATION => Self::Failed(unsafe_isolation("default_transaction_isolation")),
                UPGRADED => Self::NoFunction(message()),
                code if code.starts_with("08") => Self::Lost(unavailable),
                _ => Self::Failed(unavailable),
            },
        }
    }
}

impl From<StoreError> for CallError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|source| source.is::<std::io::Error>())
}

/// The message of the database. It never contains a password.
pub(crate) fn unavailable(error: &tokio_postgres::Error) -> StoreError {
    let detail = match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(database), _) => format!("{} ({})", database.message(), database.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    };
    StoreError::Unavailable { detail }
}

pub(crate) fn unsafe_setting(setting: &str, remedy: &str) -> StoreError {
    StoreError::Unsafe {
        setting: setting.to_owned(),
        remedy: remedy.to_owned(),
    }
}

pub(crate) fn unsafe_isolation(setting: &str) -> StoreError {
    let remedy = "set it to `read committed` for this role or database";
    unsafe_setting(setting, remedy)
}

/// Maps the failure to decode `what`, a row or a column.
pub(crate) fn unreadable<E: Into<Unreadable>>(what: impl Display) -> impl Fn(E) -> StoreError {
    move |error| error.into().in_place(format!("the database ({what})"))
}

pub(crate) fn unreadable_frame(stream: StreamNumber, error: &DecodeError) -> StoreError {
    StoreError::unreadable_frame(format!("the journal of stream {stream}"), error)
}
