//! Pages of the list of runs, newest first.
//!
//! Filters by workflow and status walk the index of exactly those, one short walk per combination,
//! merged by stream number; a tag walks the index of that tag; without any of them all runs are
//! walked. The rest of the filters is applied to the rows found.

use everstep_model::StreamNumber;
use everstep_store::{Cursor, ListPage, ListQuery, RunRow, StoreError};
use tokio_postgres::types::Type;

use crate::connection::argument::Argument;
use crate::failure::Trouble;
use crate::number::{count, limit, millis, uncount};
use crate::read::due::sound;
use crate::schema::head::{RUN, run};
use crate::session::Session;

/// What every walk has in common.
const FILTERS: &str = "r.listed AND r.stream < $1 AND r.created_at >= $3 AND r.created_at < $4";
const NEWEST_FIRST: &str = "ORDER BY r.stream DESC LIMIT $2";

pub(crate) async fn page(session: &Session, query: ListQuery) -> Result<ListPage, StoreError> {
    let workflows: Vec<&str> = query.workflows.iter().map(|name| name.as_str()).collect();
    let statuses: Vec<i16> = query.statuses.iter().map(|s| s.code().into()).collect();
    let tag = query.tag.as_ref().map(String::as_bytes);
    let end = query.cursor.map_or(i64::MAX, |at| count(at.0.0));
    // One more than wanted tells whether there is more.
    let most = limit(query.limit).saturating_add(1);
    let from = query.created_from.map_or(0, millis);
    let before = query.created_before.map_or(i64::MAX, millis);
    let arguments: [Argument<'_>; 7] = [
        (&end, Type::INT8),
        (&most, Type::INT8),
        (&from, Type::INT8),
        (&before, Type::INT8),
        (&workflows, Type::TEXT_ARRAY),
        (&statuses, Type::INT2_ARRAY),
        (&tag, Type::BYTEA),
    ];
    let statement = statement(&session.schema, &query);
    let lines = session.reads.read(&statement, &arguments).await;
    let lines = lines.map_err(Trouble::into_error)?;
    let is_more = lines.len() > query.limit;
    let lines = lines.get(..query.limit.min(lines.len())).unwrap_or(&lines);
    let rows: Vec<(StreamNumber, RunRow)> = sound("list of runs", lines, |line| {
        Ok((StreamNumber(uncount(line.try_get(0)?)), run(line, 1)?))
    })?;
    // A damaged row at the end is not where the next page begins, so that no row is missed.
    let last = lines.last().and_then(|line| line.try_get(0).ok());
    let next = last.map_or(query.cursor, |n| Some(Cursor(StreamNumber(uncount(n)))));
    Ok(ListPage {
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        next: next.filter(|_| is_more),
    })
}

fn statement(schema: &str, query: &ListQuery) -> String {
    let is_filtered = !query.workflows.is_empty() || !query.statuses.is_empty();
    if query.tag.is_some() {
        let any_workflow = "(cardinality($5) = 0 OR r.workflow = ANY ($5))";
        let any_status = "(cardinality($6) = 0 OR r.status = ANY ($6))";
        return format!(
            "SELECT r.stream, {RUN} FROM {schema}.tags t JOIN {schema}.runs r ON r.stream = t.stream
            WHERE t.tag = {schema}.tag_key($7) AND t.stream < $1 AND {FILTERS} AND {any_workflow} AND {any_status}
            ORDER BY t.stream DESC LIMIT $2"
        );
    }
    // Every argument has a type because it is used, whether it decides or not.
    let unused = "$7::bytea IS NULL";
    if !is_filtered {
        return format!(
            "SELECT r.stream, {RUN} FROM {schema}.runs r WHERE {FILTERS} AND {unused}
            AND cardinality($5) = 0 AND cardinality($6) = 0 {NEWEST_FIRST}"
        );
    }
    // The next workflow in the index, and the next: one step each, over all their runs at once.
    let workflows = match query.workflows.is_empty() {
        false => "SELECT DISTINCT unnest($5) COLLATE \"C\" AS workflow".to_owned(),
        true => format!(
            "SELECT k.workflow FROM (
                WITH RECURSIVE known AS (
                    (SELECT workflow FROM {schema}.runs WHERE listed ORDER BY workflow LIMIT 1)
                    UNION ALL SELECT (SELECT n.workflow FROM {schema}.runs n WHERE n.listed AND n.workflow > known.workflow
                        ORDER BY n.workflow LIMIT 1) FROM known WHERE known.workflow IS NOT NULL
                ) SELECT workflow FROM known WHERE workflow IS NOT NULL AND cardinality($5) = 0
            ) k"
        ),
    };
    let statuses = match query.statuses.is_empty() {
        false => "SELECT DISTINCT unnest($6) AS status",
        true => "SELECT generate_series(1, 15)::int2 AS status WHERE cardinality($6) = 0",
    };
    format!(
        "SELECT r.* FROM ({workflows}) w CROSS JOIN ({statuses}) st CROSS JOIN LATERAL (
            SELECT r.stream, {RUN} FROM {schema}.runs r
            WHERE r.workflow = w.workflow AND r.status = st.status AND {FILTERS} {NEWEST_FIRST}
        ) r WHERE {unused} ORDER BY r.stream DESC LIMIT $2"
    )
}
