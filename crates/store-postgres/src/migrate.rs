//! The tables and functions of an installation: made when they are not there, by whoever comes first.

use everstep_store::StoreError;
use tokio_postgres::types::Type;

use crate::failure::Trouble;
use crate::pool::{Pool, is_yes};

/// The format this release writes, and the only one it opens: those before it were never released.
const FORMAT: i32 = 3;

const TABLES: &str = include_str!("../sql/tables.sql");
const LEASES: &str = include_str!("../sql/leases.sql");
const SETTINGS: &str = include_str!("../sql/settings.sql");
const WRITES: &str = include_str!("../sql/writes.sql");
const PLAIN: &str = include_str!("../sql/plain.sql");
const BATCH: &str = include_str!("../sql/batch.sql");
const COMMIT: &str = include_str!("../sql/commit.sql");

/// How many bytes of frames a head keeps before they become a row: longer tails make heads wander from page to page, and
/// shorter ones save fewer rows.
const TAIL_MAX: &str = "512";
/// How long plain commits wait for heads and names that somebody else writes.
const PATIENCE: &str = "200ms";

/// Makes what is missing. Any number of nodes may do so at once.
pub(crate) async fn migrate(pool: &Pool, schema: &str) -> Result<(), StoreError> {
    if let Some(format) = format(pool, schema).await? {
        return known(schema, format);
    }
    pool.script(&script(schema)).await.map_err(Trouble::told)?;
    match format(pool, schema).await? {
        Some(format) => known(schema, format),
        None => Err(StoreError::Corrupt {
            place: format!("schema {schema}"),
            detail: "it has tables, but does not say of which format".to_owned(),
        }),
    }
}

fn known(schema: &str, found: i32) -> Result<(), StoreError> {
    if found > FORMAT {
        return Err(StoreError::Newer {
            place: format!("schema {schema}"),
            found: found.try_into().unwrap_or(u32::MAX),
            known: FORMAT.try_into().unwrap_or(u32::MAX),
        });
    }
    if found < FORMAT {
        return Err(StoreError::Unavailable {
            detail: format!(
                "schema {schema} has format {found}, which no release has written, and this one does not read; choose another \
                 namespace, or drop the schema"
            ),
        });
    }
    Ok(())
}

/// The format of what is there; none if there is nothing.
async fn format(pool: &Pool, schema: &str) -> Result<Option<i32>, StoreError> {
    let table = format!("{schema}.meta");
    let exists = "SELECT to_regclass($1) IS NOT NULL";
    let found = pool.read(exists, &[(&table, Type::TEXT)]).await;
    let found = found.map_err(Trouble::told)?;
    let exists = is_yes(&found);
    if !exists {
        return Ok(None);
    }
    let found = pool.read(&format!("SELECT format FROM {table}"), &[]).await;
    let found = found.map_err(Trouble::told)?;
    Ok(found.first().and_then(|row| row.try_get(0).ok()))
}

/// One transaction that makes everything, or finds that somebody else has. The lock is the transaction's, so it is gone
/// with it, whatever stands between us and the server.
fn script(schema: &str) -> String {
    let everything = [TABLES, LEASES, WRITES, PLAIN, BATCH, COMMIT]
        .join("\n")
        .replace("{settings}", SETTINGS)
        .replace("{patience}", PATIENCE)
        .replace("{tail_max}", TAIL_MAX)
        .replace("{schema}", schema);
    format!(
        "BEGIN;
        SELECT pg_advisory_xact_lock(hashtextextended('everstep {schema}', 0));
        SET LOCAL search_path = {schema};
        DO $migration$ BEGIN
            IF to_regclass('{schema}.meta') IS NULL THEN
                CREATE SCHEMA IF NOT EXISTS {schema};
                EXECUTE $everything${everything}$everything$;
                INSERT INTO meta SELECT true, {FORMAT}, 0, system_identifier,
                    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) FROM pg_control_system();
            END IF;
        END $migration$;
        COMMIT;"
    )
}
