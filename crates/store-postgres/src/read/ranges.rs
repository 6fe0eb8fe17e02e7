//! Ranges of shared rows, and counts of runs.

use everstep_store::encoding::{decode_shared_key, key_parts, shared_key};
use everstep_store::{Count, ListQuery, Row, RowKey, RowRange, SharedRow, StoreError};
use tokio_postgres::types::Type;

use crate::connection::argument::Argument;
use crate::failure::Trouble;
use crate::number::{limit, millis};
use crate::read::due::sound;
use crate::schema::head::Unusable;
use crate::schema::row_place::{self, Kind};
use crate::session::Session;

/// Above this number, runs are estimated instead of counted.
const COUNTED_MAX: i64 = 10_000;

pub(crate) async fn rows(session: &Session, range: RowRange) -> Result<Vec<SharedRow>, StoreError> {
    let mut from = key_parts(&range.prefix);
    let mut to = from.clone();
    // No key continues like this, because parts begin with small tags.
    to.push(u8::MAX);
    if let Some(after) = range.after.filter(|after| after.kind() == range.kind) {
        let mut after = shared_key(&after);
        if range.reverse {
            to = to.min(after);
        } else {
            // The smallest key behind it.
            after.push(0);
            from = from.max(after);
        }
    }
    let direction = if range.reverse { "DESC" } else { "ASC" };
    let statement = format!(
        "SELECT key, value, place FROM {}.rows WHERE kind = $1 AND stream = 0 AND key >= $2 AND key < $3
        ORDER BY key {direction} LIMIT $4",
        session.schema
    );
    let (kind, most) = (Kind::from(range.kind).code(), limit(range.limit));
    let arguments: [Argument<'_>; 4] = [
        (&kind, Type::INT2),
        (&from, Type::BYTEA),
        (&to, Type::BYTEA),
        (&most, Type::INT8),
    ];
    let lines = session.reads.read(&statement, &arguments).await;
    sound(
        "shared rows",
        &lines.map_err(Trouble::into_error)?,
        |line| {
            let key = RowKey::Shared(decode_shared_key(range.kind, line.try_get(0)?)?);
            match row_place::row(&key, line.try_get(1)?, line.try_get(2)?) {
                Ok(Row::Shared(row)) => Ok(row),
                _ => Err(Unusable::Damaged(everstep_store::encoding::Damaged(
                    "a shared row is not as it was written",
                ))),
            }
        },
    )
}

pub(crate) async fn count(session: &Session, query: ListQuery) -> Result<Count, StoreError> {
    let workflows: Vec<&str> = query.workflows.iter().map(|name| name.as_str()).collect();
    let statuses: Vec<i16> = query.statuses.iter().map(|s| s.code().into()).collect();
    let tag = query.tag.as_ref().map(String::as_bytes);
    let from = query.created_from.map_or(0, millis);
    let before = query.created_before.map_or(i64::MAX, millis);
    let arguments: [Argument<'_>; 5] = [
        (&from, Type::INT8),
        (&before, Type::INT8),
        (&workflows, Type::TEXT_ARRAY),
        (&statuses, Type::INT2_ARRAY),
        (&tag, Type::BYTEA),
    ];
    let matching = matching(&session.schema, &query);
    let most = COUNTED_MAX + 1;
    let counting = format!("SELECT count(*) FROM (SELECT FROM {matching} LIMIT {most}) r");
    let lines = session.reads.read(&counting, &arguments).await;
    let lines = lines.map_err(Trouble::into_error)?;
    let counted: i64 = lines
        .first()
        .map_or(Ok(0), |line| line.try_get(0))
        .map_err(|e| Trouble::of(&e).into_error())?;
    if counted <= COUNTED_MAX {
        let number = counted.unsigned_abs();
        return Ok(Count {
            number,
            exact: true,
        });
    }
    let explaining = format!("EXPLAIN SELECT FROM {matching}");
    let lines = session.reads.read(&explaining, &arguments).await;
    let lines = lines.map_err(Trouble::into_error)?;
    let plan: Option<&str> = lines.first().and_then(|line| line.try_get(0).ok());
    let estimate = plan.and_then(estimated_rows).unwrap_or(0);
    Ok(Count {
        number: estimate.max(counted.unsigned_abs()),
        exact: false,
    })
}

/// The runs that pass the filters, from the word behind `FROM` on. Filters that are not used still
/// mention their argument, so that its type is known.
fn matching(schema: &str, query: &ListQuery) -> String {
    let tagged = match query.tag {
        Some(_) => format!(
            "r.stream IN (SELECT t.stream FROM {schema}.tags t WHERE t.tag = {schema}.tag_key($5))"
        ),
        None => "$5::bytea IS NULL".to_owned(),
    };
    let workflows = match query.workflows.is_empty() {
        true => "cardinality($3) = 0",
        false => "r.workflow = ANY ($3)",
    };
    let statuses = match query.statuses.is_empty() {
        true => "cardinality($4) = 0",
        false => "r.status = ANY ($4)",
    };
    format!(
        "{schema}.runs r WHERE r.listed AND r.created_at >= $1 AND r.created_at < $2 AND {workflows} AND {statuses} \
         AND {tagged}"
    )
}

/// The number of rows in the first line of a plan.
fn estimated_rows(plan: &str) -> Option<u64> {
    let (_, rest) = plan.split_once("rows=")?;
    rest.split_once(' ')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_read_from_the_first_line_of_a_plan() {
        let plan = "Seq Scan on runs r  (cost=0.00..35.50 rows=2550 width=0)";
        assert_eq!(estimated_rows(plan), Some(2_550));
    }
}
