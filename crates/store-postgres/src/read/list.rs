//! Pages of the list of runs, newest first.

use everstep_model::StreamNumber;
use everstep_store::{Cursor, ListPage, ListQuery};

use crate::failure::CallError;
use crate::number::{limit, uncount};
use crate::read::due::undamaged;
use crate::read::run_filters::RunFilters;
use crate::schema::head::{RUN, run};
use crate::session::Session;

pub(crate) async fn page(session: &Session, query: ListQuery) -> Result<ListPage, CallError> {
    // The row after the page shows whether there is more.
    let most = limit(query.limit).saturating_add(1);
    let filters = RunFilters::of(&query, most).after_cursor();
    let statement = filters.newest(&session.schema, &format!("r.stream, {RUN}"));
    let lines = session.reads.read(&statement, &filters.arguments()).await?;
    let is_more = lines.len() > query.limit;
    let lines = lines.get(..query.limit.min(lines.len())).unwrap_or(&lines);
    let rows = undamaged("list of runs", lines, |line| run(line, 1))?;
    // A damaged row at the end counts, so that the next page begins after it.
    let last = lines.last().and_then(|line| line.try_get(0).ok());
    let next = last.map_or(query.cursor, |n| Some(Cursor(StreamNumber(uncount(n)))));
    Ok(ListPage {
        rows,
        next: next.filter(|_| is_more),
    })
}
