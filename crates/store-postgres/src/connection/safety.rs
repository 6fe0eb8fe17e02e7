//! Refuses server settings that would lose acknowledged commits.

use everstep_store::StoreError;
use tokio_postgres::Client;

use crate::failure::{replica, unavailable, unsafe_setting};

/// The oldest release that is tested.
const VERSION_MIN: i32 = 150_000;

const QUESTION: &str = "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery(), \
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), \
    current_setting('synchronous_standby_names'), current_setting('default_transaction_isolation')";

/// What the server says of itself.
struct Settings {
    version: i32,
    in_recovery: bool,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
    standbys: String,
    isolation: String,
}

/// Refuses a server that would lose what it acknowledges, unless that is allowed, and one that
/// cannot work at all.
pub(crate) async fn check(client: &Client, allow_lossy: bool) -> Result<(), StoreError> {
    let rows = client.query_typed(QUESTION, &[]).await;
    let rows = rows.map_err(|error| unavailable(&error))?;
    let Some(row) = rows.first() else {
        return Ok(());
    };
    let read = || -> Result<Settings, tokio_postgres::Error> {
        Ok(Settings {
            version: row.try_get(0)?,
            in_recovery: row.try_get(1)?,
            fsync: row.try_get(2)?,
            full_page_writes: row.try_get(3)?,
            synchronous_commit: row.try_get(4)?,
            standbys: row.try_get(5)?,
            isolation: row.try_get(6)?,
        })
    };
    let settings = read().map_err(|error| unavailable(&error))?;
    settings.works()?;
    match settings.is_durable() {
        Err(error) if allow_lossy => {
            tracing::warn!(%error, "acknowledged commits may get lost, as was allowed");
            Ok(())
        }
        verdict => verdict,
    }
}

impl Settings {
    /// Nothing would work otherwise, whatever is allowed.
    fn works(&self) -> Result<(), StoreError> {
        if self.in_recovery {
            return Err(replica());
        }
        if self.isolation != "read committed" {
            return Err(unsafe_setting(
                &format!("default_transaction_isolation = {}", self.isolation),
                "set it to `read committed` for this role or database",
            ));
        }
        Ok(())
    }

    fn is_durable(&self) -> Result<(), StoreError> {
        if self.version < VERSION_MIN {
            return Err(unsafe_setting(
                &format!("PostgreSQL {}", self.version / 10_000),
                "use PostgreSQL 15 or later",
            ));
        }
        if self.fsync != "on" {
            return Err(unsafe_setting("fsync = off", "set it to `on`"));
        }
        if self.full_page_writes != "on" {
            return Err(unsafe_setting("full_page_writes = off", "set it to `on`"));
        }
        let commit = self.synchronous_commit.as_str();
        let skips_standbys = commit == "local" && !self.standbys.is_empty();
        if commit == "off" || skips_standbys {
            return Err(unsafe_setting(
                &format!("synchronous_commit = {commit}"),
                "set it to `on`, for this role or database too",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Settings {
        Settings {
            version: 150_004,
            in_recovery: false,
            fsync: "on".to_owned(),
            full_page_writes: "on".to_owned(),
            synchronous_commit: "on".to_owned(),
            standbys: String::new(),
            isolation: "read committed".to_owned(),
        }
    }

    /// The setting that is refused.
    fn refused(change: impl Fn(&mut Settings)) -> Option<String> {
        let mut settings = sound();
        change(&mut settings);
        match settings.works().and_then(|()| settings.is_durable()) {
            Err(StoreError::Unsafe { setting, .. }) => Some(setting),
            Err(other) => panic!("{other}"),
            Ok(()) => None,
        }
    }

    #[test]
    fn what_loses_commits_is_refused_by_name() {
        let is = |change: fn(&mut Settings), name: &str| {
            assert_eq!(refused(change).as_deref(), Some(name));
        };
        is(|s| s.version = 140_012, "PostgreSQL 14");
        is(
            |s| s.in_recovery = true,
            "a replica, or a server in recovery",
        );
        is(|s| s.fsync = "off".to_owned(), "fsync = off");
        is(
            |s| s.full_page_writes = "off".to_owned(),
            "full_page_writes = off",
        );
        is(
            |s| s.synchronous_commit = "off".to_owned(),
            "synchronous_commit = off",
        );
        let local = |s: &mut Settings| {
            s.synchronous_commit = "local".to_owned();
            s.standbys = "ANY 1 (a, b)".to_owned();
        };
        is(local, "synchronous_commit = local");
        let serializable = |s: &mut Settings| s.isolation = "serializable".to_owned();
        is(serializable, "default_transaction_isolation = serializable");
    }

    #[test]
    fn what_is_durable_is_taken() {
        assert_eq!(refused(|_| {}), None);
        assert_eq!(refused(|s| s.synchronous_commit = "local".to_owned()), None);
        assert_eq!(
            refused(|s| s.synchronous_commit = "remote_apply".to_owned()),
            None
        );
    }
}
