//! Maps errors of PostgreSQL to errors of the store.

use everstep_model::{DecodeError, StreamNumber};
use everstep_store::StoreError;
use everstep_store::encoding::{Unreadable, VERSION};
use tokio_postgres::error::SqlState;

/// The history of the database has changed; see `sql/leases.sql`.
const HISTORY: &str = "ES001";
/// The call read state that had changed when it wrote.
const MOMENT: &str = "ES002";
/// The isolation level does not allow commits to be judged.
const ISOLATION: &str = "ES003";

/// A function of an older format, left behind by an upgrade; see `sql/upgrade.sql`.
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
    /// The connection was lost and the outcome is unknown.
    Lost(StoreError),
    /// The call failed for good.
    Failed(StoreError),
}

impl CallError {
    pub(crate) fn of(error: &tokio_postgres::Error) -> Self {
        let unavailable = unavailable(error);
        let Some(database) = error.as_db_error() else {
            return match error.is_closed() || is_io(error) {
                true => Self::Lost(unavailable),
                false => Self::Failed(unavailable),
            };
        };
        let code = database.code();
        match code.code() {
            HISTORY => return Self::HistoryChanged,
            MOMENT => return Self::Again(unavailable),
            UPGRADED => return Self::Failed(unavailable),
            ISOLATION => {
                return Self::Failed(unsafe_setting(
                    "default_transaction_isolation",
                    "set it to `read committed` for this role or database",
                ));
            }
            _ => {}
        }
        if *code == SqlState::UNDEFINED_FUNCTION {
            let detail = "the schema is of another format than when this node opened it; stop this node and start the \
                          release that upgraded the schema";
            return Self::Failed(StoreError::Unavailable {
                detail: format!("{detail}: {}", database.message()),
            });
        }
        let again = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ];
        // A server that has become a replica accepts no commits, so the connection counts as lost.
        let lost = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::READ_ONLY_SQL_TRANSACTION,
        ];
        if *code == SqlState::LOCK_NOT_AVAILABLE {
            Self::Busy(unavailable)
        } else if again.contains(code) {
            Self::Again(unavailable)
        } else if lost.contains(code) || code.code().starts_with("08") {
            Self::Lost(unavailable)
        } else if *code == SqlState::DISK_FULL {
            let place = "the database".to_owned();
            Self::Failed(StoreError::Full { place })
        } else if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
            Self::Failed(StoreError::Corrupt {
                place: "the database".to_owned(),
                detail: database.message().to_owned(),
            })
        } else {
            Self::Failed(unavailable)
        }
    }

    /// The error that the caller of the store receives.
    pub(crate) fn into_error(self) -> StoreError {
        match self {
            Self::Again(error) | Self::Busy(error) | Self::Lost(error) | Self::Failed(error) => {
                error
            }
            Self::HistoryChanged => StoreError::Unavailable {
                detail: "the history of the database has changed".to_owned(),
            },
        }
    }
}

impl From<tokio_postgres::Error> for CallError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::of(&error)
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|source| source.is::<std::io::Error>())
}

/// The message of the database. It never contains a password.
pub(crate) fn unavailable(error: &tokio_postgres::Error) -> StoreError {
    let detail = match error.as_db_error() {
        Some(database) => format!("{} ({})", database.message(), database.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    };
    StoreError::Unavailable { detail }
}

pub(crate) fn unsafe_setting(setting: &str, remedy: &str) -> StoreError {
    StoreError::Unsafe {
        setting: setting.to_owned(),
        remedy: remedy.to_owned(),
    }
}

pub(crate) fn replica() -> StoreError {
    unsafe_setting(
        "a replica, or a server in recovery",
        "connect to the primary server",
    )
}

pub(crate) fn of_value(what: &str, error: Unreadable) -> StoreError {
    match error {
        Unreadable::Newer(found) => StoreError::Newer {
            place: what.to_owned(),
            found: found.into(),
            known: VERSION.into(),
        },
        Unreadable::Damaged(damaged) => StoreError::Corrupt {
            place: what.to_owned(),
            detail: damaged.0.to_owned(),
        },
    }
}

pub(crate) fn of_frame(stream: StreamNumber, error: &DecodeError) -> StoreError {
    let place = format!("the journal of stream {stream}");
    match error {
        DecodeError::NewerFormat(found) => StoreError::Newer {
            place,
            found: (*found).into(),
            known: everstep_model::FORMAT_VERSION.into(),
        },
        DecodeError::UnknownRecord(_) | DecodeError::Damaged(_) => StoreError::Corrupt {
            place,
            detail: error.to_string(),
        },
    }
}

/// Logs a damaged row that a query leaves out.
pub(crate) fn left_out(of: &str, error: &StoreError) {
    tracing::error!(%error, "damaged row left out of the {of}");
}
