//! Creates the tables and functions of an installation, and upgrades those of the previous release.
//!
//! Builds of one format may differ in their functions. A comment on the table `meta` is the digest
//! of those in the schema; opening replaces them if they are not those of this build, so the build
//! that opened the schema last decides. Nodes that are already running call the new functions, so
//! within a format the arguments and results of the entry functions, and the data they write, stay
//! compatible.

use everstep_model::RunStatus;
use everstep_store::{StoreError, UNPROVEN_MAX, status_once_taken, status_once_woken};

use crate::connection::argument::arguments;
use crate::connection::pool::{Pool, is_true};
use crate::failure::CallError;

/// The format that this release writes.
const FORMAT: i32 = 4;
/// The oldest format that is upgraded. It has no shared rows and no gates.
const OLDEST: i32 = 3;

const TABLES: &str = include_str!("../../sql/tables.sql");
const UPGRADE: &str = include_str!("../../sql/upgrade.sql");
const SETTINGS: &str = include_str!("../../sql/settings.sql");
/// The functions, and what was added to the format.
const FUNCTIONS: &str = concat!(
    include_str!("../../sql/indexes.sql"),
    include_str!("../../sql/leases.sql"),
    include_str!("../../sql/writes.sql"),
    include_str!("../../sql/plain.sql"),
    include_str!("../../sql/batch.sql"),
    include_str!("../../sql/commit.sql"),
);
/// The functions that nodes call. `append_step`, which format 4 did not have at first, is added
/// when a schema without it is opened.
const ENTRY_FUNCTIONS: [&str; 7] = [
    "adopt_history",
    "append_batch",
    "clear_garbage",
    "commit_batch",
    "plain_batch",
    "renew_lease",
    "retire_node",
];

/// The bytes of frames that a head keeps before they become a row. Longer tails move heads from
/// page to page, and shorter ones save fewer rows.
const TAIL_MAX: &str = "512";
/// How long plain commits wait for heads and names that another node writes.
const PATIENCE: &str = "200ms";

/// The full name of an entry function. It ends with the format, so a node never calls a function of
/// another format.
pub(crate) fn function(schema: &str, name: &str) -> String {
    format!("{schema}.{name}_{FORMAT}")
}

/// Creates or upgrades the schema. Any number of nodes may do so at once.
pub(crate) async fn migrate(pool: &Pool, schema: &str) -> Result<(), CallError> {
    match format(pool, schema).await? {
        Some(FORMAT) => {
            check_functions(pool, schema).await?;
            if has_these_functions(pool, schema).await? {
                return Ok(());
            }
            tracing::info!(schema, "replacing the functions of the schema");
        }
        Some(OLDEST) => tracing::info!(schema, "upgrading the schema to format {FORMAT}"),
        Some(other) => return Err(unknown_format(schema, other).into()),
        None => {}
    }
    pool.script(&script(schema)).await?;
    match format(pool, schema).await? {
        Some(FORMAT) => Ok(()),
        Some(other) => Err(unknown_format(schema, other).into()),
        None => Err(damaged(schema, "the table meta has no row").into()),
    }
}

/// Returns why a function that this release calls does not exist or refuses calls, although the
/// schema had this format when it was opened.
pub(crate) async fn explain_missing_function(
    pool: &Pool,
    schema: &str,
    message: &str,
) -> StoreError {
    match format(pool, schema).await {
        Ok(Some(found)) if found > FORMAT => newer(
            &format!("{schema}, which another release has upgraded,"),
            found,
        ),
        Ok(_) => damaged(schema, message),
        Err(call_error) => call_error.into_error(),
    }
}

fn unknown_format(schema: &str, found: i32) -> StoreError {
    if found > FORMAT {
        return newer(schema, found);
    }
    let what =
        format!("has format {found}, which no release has written and this one does not read");
    unusable(schema, &what)
}

fn newer(schema: &str, found: i32) -> StoreError {
    StoreError::Newer {
        place: format!("schema {schema}"),
        found: found.unsigned_abs(),
        known: FORMAT.unsigned_abs(),
    }
}

fn unusable(schema: &str, what: &str) -> StoreError {
    StoreError::Unavailable {
        detail: format!("schema {schema} {what}; choose another namespace, or drop the schema"),
    }
}

fn damaged(schema: &str, what: &str) -> StoreError {
    StoreError::Corrupt {
        place: format!("schema {schema}"),
        detail: what.to_owned(),
    }
}

/// Returns the format of the schema, or `None` if the schema does not exist.
async fn format(pool: &Pool, schema: &str) -> Result<Option<i32>, CallError> {
    let table = format!("{schema}.meta");
    let exists = "SELECT to_regclass($1) IS NOT NULL";
    if !is_true(&pool.read(exists, &arguments![table]).await?) {
        return Ok(None);
    }
    let found = pool
        .read(&format!("SELECT format FROM {table}"), &[])
        .await?;
    Ok(found.first().and_then(|row| row.try_get(0).ok()))
}

/// Refuses a schema without the functions of its format. Only unreleased versions have written such
/// schemas, when the names of functions did not end with the format.
async fn check_functions(pool: &Pool, schema: &str) -> Result<(), CallError> {
    let names = ENTRY_FUNCTIONS
        .map(|name| format!("{name}_{FORMAT}"))
        .to_vec();
    let missing = "SELECT name FROM unnest($2) name WHERE NOT EXISTS (
        SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = $1 AND p.proname = name)";
    let missing = pool.read(missing, &arguments![schema, names]).await?;
    let missing = missing.iter().map(|row| row.try_get(0));
    let missing = missing.collect::<Result<Vec<&str>, _>>()?.join(", ");
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!(
        "has format {FORMAT}, but not the functions {missing}: an unreleased version of Everstep has written it"
    );
    Err(unusable(schema, &what).into())
}

/// Whether the functions of the schema are those of this build.
async fn has_these_functions(pool: &Pool, schema: &str) -> Result<bool, CallError> {
    let functions = filled_in(FUNCTIONS, schema);
    let same = format!(
        "SELECT obj_description('{schema}.meta'::regclass, 'pg_class')
            IS NOT DISTINCT FROM encode(sha256(convert_to($1, 'UTF8')), 'hex')"
    );
    Ok(is_true(&pool.read(&same, &arguments![functions]).await?))
}

/// One transaction that creates, upgrades or replaces what is needed, or finds that another node
/// has done so. The lock belongs to the transaction, so it is released with it even behind a
/// pooler.
fn script(schema: &str) -> String {
    let [tables, upgrade, functions] =
        [TABLES, UPGRADE, FUNCTIONS].map(|template| filled_in(template, schema));
    let names = functions.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("CREATE FUNCTION ")?.split_once('(')?;
        Some(format!("'{name}'"))
    });
    let names = names.collect::<Vec<_>>().join(", ");
    format!(
        "BEGIN;
        SELECT pg_advisory_xact_lock(hashtextextended('everstep {schema}', 0));
        SET LOCAL search_path = {schema};
        DO $migration$
        DECLARE
            functions constant text := $everything${functions}$everything$;
            digest constant text := encode(sha256(convert_to(functions, 'UTF8')), 'hex');
            signature text;
        BEGIN
            IF to_regclass('{schema}.meta') IS NULL THEN
                CREATE SCHEMA IF NOT EXISTS {schema};
                EXECUTE $everything${tables}$everything$;
                EXECUTE functions;
                INSERT INTO meta SELECT true, {FORMAT}, 0, system_identifier,
                    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) FROM pg_control_system();
            ELSIF (SELECT format FROM meta) = {OLDEST} THEN
                EXECUTE $everything${upgrade}$everything$;
                EXECUTE functions;
                UPDATE meta SET format = {FORMAT};
            ELSIF (SELECT format FROM meta) = {FORMAT}
                AND obj_description('{schema}.meta'::regclass, 'pg_class') IS DISTINCT FROM digest
            THEN
                -- Dropped by name: the arguments of inner functions may differ.
                FOR signature IN SELECT p.oid::regprocedure FROM pg_proc p
                    WHERE p.pronamespace = '{schema}'::regnamespace AND p.prokind = 'f' AND p.proname IN ({names})
                    ORDER BY p.oid DESC
                LOOP
                    EXECUTE 'DROP FUNCTION ' || signature;
                END LOOP;
                EXECUTE functions;
            ELSE
                RETURN;
            END IF;
            EXECUTE format('COMMENT ON TABLE meta IS %L', digest);
        END $migration$;
        COMMIT;"
    )
}

/// Fills in the values that the SQL takes from Rust.
fn filled_in(template: &str, schema: &str) -> String {
    let continued = codes(|status| status_once_taken(status) == status);
    let resting = codes(|status| status_once_woken(status) != status);
    template
        .replace("{settings}", SETTINGS)
        .replace("{patience}", PATIENCE)
        .replace("{tail_max}", TAIL_MAX)
        .replace("{unproven_max}", &UNPROVEN_MAX.to_string())
        .replace("{continued}", &continued)
        .replace("{resting}", &resting)
        .replace("{queued}", &RunStatus::Queued.code().to_string())
        .replace("{running}", &RunStatus::Running.code().to_string())
        .replace("{format}", &FORMAT.to_string())
        .replace("{schema}", schema)
}

/// Returns the codes of the statuses for which `is_listed` holds.
fn codes(is_listed: impl Fn(RunStatus) -> bool) -> String {
    let listed = RunStatus::ALL.iter().filter(|status| is_listed(**status));
    let codes: Vec<String> = listed.map(|status| status.code().to_string()).collect();
    codes.join(", ")
}
