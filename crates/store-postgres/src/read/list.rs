//! Pages of the list of runs, newest first.

use everstep_model::StreamNumber;
use everstep_store::{Cursor, ListPage, ListQuery};

use crate::failure::CallError;
use crate::number::{limit, uncount};
use crate::read::due::undamaged;
use crate::read::run_filters::RunFilters;
use crate::schema::head::{RUN, run};
use crate::session::Session;

/// The number of runs that a page compares with beginnings of ids, which have no index.
const COMPARED: i64 = 10_000;
/// The position of the number of compared runs in a line.
const COMPARED_COLUMN: usize = 9;

pub(crate) async fn page(session: &Session, query: ListQuery) -> Result<ListPage, CallError> {
    // The row after the page shows whether there is more.
    let most = limit(query.limit).saturating_add(1);
    let compares = !query.id_prefixes.is_empty();
    let columns = format!("r.stream, {RUN}");
    let schema = &session.schema;
    let lines = match compares {
        true => {
            let filters = RunFilters::of(&query, COMPARED).after_cursor();
            let statement = filters.newest_compared(schema, &columns, most);
            session.reads.read(&statement, &filters.arguments()).await?
        }
        false => {
            let filters = RunFilters::of(&query, most).after_cursor();
            let statement = filters.newest(schema, &columns);
            session.reads.read(&statement, &filters.arguments()).await?
        }
    };
    let compared: Option<i64> = match lines.last().filter(|_| compares) {
        Some(line) => Some(line.try_get(COMPARED_COLUMN)?),
        None => None,
    };
    let is_more = lines.len() > query.limit || compared == Some(COMPARED);
    let lines = lines.get(..query.limit.min(lines.len())).unwrap_or(&lines);
    let mut rows = undamaged("list of runs", lines, |line| run(line, 1))?;
    // The last run that was compared may not match.
    rows.retain(|row| query.matches(row));
    // A damaged row at the end counts, so that the next page begins after it.
    let last = lines.last().and_then(|line| line.try_get(0).ok());
    let next = last.map_or(query.cursor, |n| Some(Cursor(StreamNumber(uncount(n)))));
    Ok(ListPage {
        rows,
        next: next.filter(|_| is_more),
    })
}
