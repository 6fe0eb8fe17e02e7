//! Counts of runs: exact if few rows have to be read, otherwise estimated by the planner.

use everstep_store::{Count, ListQuery, StoreError};

use crate::failure::CallError;
use crate::read::run_filters::RunFilters;
use crate::session::Session;

/// A count that would read more rows is estimated.
const READ_MAX: i64 = 10_000;

pub(crate) async fn count(session: &Session, query: ListQuery) -> Result<Count, StoreError> {
    let filters = RunFilters::of(&query, READ_MAX + 1);
    let schema = &session.schema;
    let columns = "r.stream, r.listed, r.created_at, r.workflow, r.status";
    let walk = filters.walk(schema, columns, "true", true);
    let condition = filters.condition();
    let statement = format!("SELECT count(*), count(*) FILTER (WHERE {condition}) FROM ({walk}) r");
    let lines = session.reads.read(&statement, &filters.arguments()).await;
    let lines = lines.map_err(CallError::into_error)?;
    let number = |at| {
        let found: Result<i64, _> = lines.first().map_or(Ok(0), |line| line.try_get(at));
        found.map_err(|error| CallError::of(&error).into_error())
    };
    let (read, matching) = (number(0)?, number(1)?.unsigned_abs());
    if read <= READ_MAX {
        return Ok(Count {
            number: matching,
            exact: true,
        });
    }
    let tagged = match query.tag {
        Some(_) => format!("AND t.tag = {schema}.tag_key($7)"),
        None => String::new(),
    };
    let tags = match query.tag {
        Some(_) => format!("JOIN {schema}.tags t ON t.stream = r.stream"),
        None => String::new(),
    };
    let statement =
        format!("EXPLAIN SELECT FROM {schema}.runs r {tags} WHERE {condition} {tagged}");
    let lines = session.reads.read(&statement, &filters.arguments()).await;
    let lines = lines.map_err(CallError::into_error)?;
    let plan: Option<&str> = lines.first().and_then(|line| line.try_get(0).ok());
    let estimate = plan.and_then(estimated_rows).unwrap_or(0);
    Ok(Count {
        number: estimate.max(matching),
        exact: false,
    })
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
