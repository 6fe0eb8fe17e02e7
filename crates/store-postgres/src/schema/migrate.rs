//! Creates the tables and functions of an installation, and upgrades those of the previous release.

use everstep_store::StoreError;
use tokio_postgres::types::Type;

use crate::connection::pool::{Pool, is_yes};
use crate::failure::CallError;

/// The format that this release writes.
const FORMAT: i32 = 4;
/// The oldest format that is upgraded. It has no shared rows and no gates.
const OLDEST: i32 = 3;

const TABLES: &str = include_str!("../../sql/tables.sql");
const UPGRADE: &str = include_str!("../../sql/upgrade.sql");
const LEASES: &str = include_str!("../../sql/leases.sql");
const SETTINGS: &str = include_str!("../../sql/settings.sql");
const WRITES: &str = include_str!("../../sql/writes.sql");
const PLAIN: &str = include_str!("../../sql/plain.sql");
const BATCH: &str = include_str!("../../sql/batch.sql");
const COMMIT: &str = include_str!("../../sql/commit.sql");

/// The bytes of frames that a head keeps before they become a row. Longer tails move heads from
/// page to page, and shorter ones save fewer rows.
const TAIL_MAX: &str = "512";
/// How long plain commits wait for heads and names that another node writes.
const PATIENCE: &str = "200ms";

/// The name of a function that nodes call. It ends with the format, so a node never calls a
/// function of another format.
pub(crate) fn function(schema: &str, name: &str) -> String {
    format!("{schema}.{name}_{FORMAT}")
}

/// Creates or upgrades the schema. Any number of nodes may do so at once.
pub(crate) async fn migrate(pool: &Pool, schema: &str) -> Result<(), StoreError> {
    match format(pool, schema).await? {
        Some(FORMAT) => return Ok(()),
        Some(OLDEST) => tracing::info!(schema, "upgrading the schema to format {FORMAT}"),
        Some(other) => return Err(unknown(schema, other)),
        None => {}
    }
    pool.script(&script(schema))
        .await
        .map_err(CallError::into_error)?;
    match format(pool, schema).await? {
        Some(FORMAT) => Ok(()),
        Some(other) => Err(unknown(schema, other)),
        None => Err(StoreError::Corrupt {
            place: format!("schema {schema}"),
            detail: "it has tables, but does not say of which format".to_owned(),
        }),
    }
}

fn unknown(schema: &str, found: i32) -> StoreError {
    if found > FORMAT {
        return StoreError::Newer {
            place: format!("schema {schema}"),
            found: found.try_into().unwrap_or(u32::MAX),
            known: FORMAT.try_into().unwrap_or(u32::MAX),
        };
    }
    StoreError::Unavailable {
        detail: format!(
            "schema {schema} has format {found}, which no release has written and this one does not read; choose another \
             namespace, or drop the schema"
        ),
    }
}

/// The format of the schema; `None` if it does not exist.
async fn format(pool: &Pool, schema: &str) -> Result<Option<i32>, StoreError> {
    let table = format!("{schema}.meta");
    let exists = "SELECT to_regclass($1) IS NOT NULL";
    let found = pool.read(exists, &[(&table, Type::TEXT)]).await;
    let found = found.map_err(CallError::into_error)?;
    if !is_yes(&found) {
        return Ok(None);
    }
    let found = pool.read(&format!("SELECT format FROM {table}"), &[]).await;
    let found = found.map_err(CallError::into_error)?;
    Ok(found.first().and_then(|row| row.try_get(0).ok()))
}

/// One transaction that creates or upgrades everything, or finds that another node has done so. The
/// lock belongs to the transaction, so it is released with it even behind a pooler.
fn script(schema: &str) -> String {
    let filled_in = |parts: &[&str]| {
        parts
            .join("\n")
            .replace("{settings}", SETTINGS)
            .replace("{patience}", PATIENCE)
            .replace("{tail_max}", TAIL_MAX)
            .replace("{format}", &FORMAT.to_string())
            .replace("{schema}", schema)
    };
    let functions = filled_in(&[LEASES, WRITES, PLAIN, BATCH, COMMIT]);
    let (tables, upgrade) = (filled_in(&[TABLES]), filled_in(&[UPGRADE]));
    format!(
        "BEGIN;
        SELECT pg_advisory_xact_lock(hashtextextended('everstep {schema}', 0));
        SET LOCAL search_path = {schema};
        DO $migration$ BEGIN
            IF to_regclass('{schema}.meta') IS NULL THEN
                CREATE SCHEMA IF NOT EXISTS {schema};
                EXECUTE $everything${tables}\n{functions}$everything$;
                INSERT INTO meta SELECT true, {FORMAT}, 0, system_identifier,
                    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) FROM pg_control_system();
            ELSIF (SELECT format FROM meta) = {OLDEST} THEN
                EXECUTE $everything${upgrade}\n{functions}$everything$;
                UPDATE meta SET format = {FORMAT};
            END IF;
        END $migration$;
        COMMIT;"
    )
}
