//! Counts of runs: exact if few match, otherwise estimated by the planner.
//!
//! Filters that no index serves (times, or a workflow and a status besides a tag) are applied to
//! the rows that an index finds. To find few matches among them, a count would read them all, so it
//! reads a limited number and is estimated if there are more.

use everstep_store::{Count, ListQuery};

use crate::failure::CallError;
use crate::read::run_filters::RunFilters;
use crate::session::Session;

/// A larger count is estimated.
const EXACT_MAX: i64 = 10_000;
/// The number of rows that a count reads at most.
const READ_MAX: i64 = 100_000;

pub(crate) async fn count(session: &Session, query: ListQuery) -> Result<Count, CallError> {
    // The row after the last one that is counted shows whether there are more.
    let filters = RunFilters::of(&query, READ_MAX + 1);
    let schema = &session.schema;
    let (candidates, condition) = (filters.candidates(schema), filters.condition());
    let statement = format!(
        "SELECT count(*) FILTER (WHERE r.nth <= {READ_MAX}), coalesce(max(r.nth) <= {READ_MAX}, true) FROM (
            SELECT r.nth FROM (SELECT r.*, row_number() OVER () AS nth FROM ({candidates}) r) r
            WHERE r.nth > {READ_MAX} OR ({condition}) LIMIT {EXACT_MAX} + 1
        ) r"
    );
    let lines = session.reads.read(&statement, &filters.arguments()).await?;
    let (found, has_read_all): (i64, bool) = match lines.first() {
        Some(line) => (line.try_get(0)?, line.try_get(1)?),
        None => (0, true),
    };
    let number = found.unsigned_abs();
    if found <= EXACT_MAX && has_read_all {
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
