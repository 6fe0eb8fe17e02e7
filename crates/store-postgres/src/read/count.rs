//! Counts of runs: exact if few match, otherwise estimated by the planner.

use everstep_store::{Count, ListQuery};

use crate::failure::CallError;
use crate::read::run_filters::RunFilters;
use crate::session::Session;

/// A larger count is estimated.
const EXACT_MAX: i64 = 10_000;

pub(crate) async fn count(session: &Session, query: ListQuery) -> Result<Count, CallError> {
    let filters = RunFilters::of(&query, EXACT_MAX + 1);
    let schema = &session.schema;
    let scan = filters.scan(schema, "r.stream", false);
    let statement = format!("SELECT count(*) FROM ({scan}) r");
    let lines = session.reads.read(&statement, &filters.arguments()).await?;
    let found: i64 = lines.first().map_or(Ok(0), |line| line.try_get(0))?;
    let number = found.unsigned_abs();
    if found <= EXACT_MAX {
        let exact = true;
        return Ok(Count { number, exact });
    }
    let (tags, tagged) = match query.tag {
        Some(_) => (
            format!("JOIN {schema}.tags t ON t.stream = r.stream"),
            format!("t.tag = {schema}.tag_key($7) AND"),
        ),
        None => Default::default(),
    };
    let condition = filters.condition();
    let statement =
        format!("EXPLAIN SELECT FROM {schema}.runs r {tags} WHERE {tagged} {condition}");
    let lines = session.reads.read(&statement, &filters.arguments()).await?;
    let plan: Option<&str> = lines.first().and_then(|line| line.try_get(0).ok());
    let estimate = plan.and_then(estimated_rows).unwrap_or(0);
    Ok(Count {
        number: estimate.max(number),
        exact: false,
    })
}

/// Returns the number of rows in the first line of a plan.
fn estimated_rows(plan: &str) -> Option<u64> {
    let (_, rest) = plan.split_once("rows=")?;
    rest.split_once(' ')?.0.parse().ok()
}

#[cfg(test)]
#[path = "count_tests.rs"]
mod tests;
