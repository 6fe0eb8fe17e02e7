//! Refuses server settings that would lose acknowledged commits.

use everstep_store::StoreError;
use tokio_postgres::Client;

use crate::failure::{unavailable, unsafe_isolation, unsafe_setting};

/// The oldest release that is tested.
const VERSION_MIN: i32 = 150_000;

const SETTINGS: &str = "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery(), \
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), \
    current_setting('synchronous_standby_names'), current_setting('default_transaction_isolation')";

struct Settings {
    version: i32,
    in_recovery: bool,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
    standbys: String,
    isolation: String,
}

/// Refuses a server on which the store cannot work, and, unless `allow_lossy`, one that could lose
/// acknowledged commits.
pub(crate) async fn check(client: &Client, allow_lossy: bool) -> Result<(), StoreError> {
    let settings = Settings::read(client).await;
    let settings = settings.map_err(|error| unavailable(&error))?;
    settings.check_usable()?;
    match settings.check_durable() {
        Err(error) if allow_lossy => {
            tracing::warn!(%error, "acknowledged commits may be lost, as the settings allow");
            Ok(())
        }
        verdict => verdict,
    }
}

impl Settings {
    async fn read(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let row = client.query_typed_one(SETTINGS, &[]).await?;
        Ok(Self {
            version: row.try_get(0)?,
            in_recovery: row.try_get(1)?,
            fsync: row.try_get(2)?,
            full_page_writes: row.try_get(3)?,
            synchronous_commit: row.try_get(4)?,
            standbys: row.try_get(5)?,
            isolation: row.try_get(6)?,
        })
    }

    fn check_usable(&self) -> Result<(), StoreError> {
        if self.in_recovery {
            return Err(unsafe_setting(
                "a replica, or a server in recovery",
                "connect to the primary server",
            ));
        }
        if self.isolation != "read committed" {
            let setting = format!("default_transaction_isolation = {}", self.isolation);
            return Err(unsafe_isolation(&setting));
        }
        Ok(())
    }

    fn check_durable(&self) -> Result<(), StoreError> {
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
#[path = "safety_tests.rs"]
mod tests;
