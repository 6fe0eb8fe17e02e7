//! Ranges of shared rows.

use everstep_store::encoding::{Damaged, decode_shared_key, range_bounds};
use everstep_store::{Row, RowKey, RowRange, SharedRow};
use tokio_postgres::Row as Line;

use crate::connection::argument::arguments;
use crate::failure::{CallError, unreadable};
use crate::number::limit;
use crate::read::due::undamaged;
use crate::schema::rows::{self, Kind};
use crate::session::Session;

pub(crate) async fn rows(session: &Session, range: RowRange) -> Result<Vec<SharedRow>, CallError> {
    let Some((mut from, mut end)) = range_bounds(&range) else {
        return Ok(Vec::new());
    };
    let direction = if range.reverse { "DESC" } else { "ASC" };
    let statement = format!(
        "SELECT key, value, place FROM {}.rows WHERE kind = $1 AND stream = 0 AND key >= $2 AND key < $3
        ORDER BY key {direction} LIMIT $4",
        session.schema
    );
    let kind = Kind::from(range.kind).code();
    let mut rows = Vec::new();
    // Damaged rows are left out, so a page may need more than one query.
    loop {
        let missing = range.limit.saturating_sub(rows.len());
        let most = limit(missing);
        let arguments = arguments![kind, from, end, most];
        let lines = session.reads.read(&statement, &arguments).await?;
        rows.extend(undamaged("shared rows", &lines, |line| {
            decode(&range, line)
        })?);
        let Some(last) = lines.last() else {
            return Ok(rows);
        };
        if lines.len() < missing || rows.len() >= range.limit {
            return Ok(rows);
        }
        let last: Vec<u8> = last.try_get(0)?;
        if range.reverse {
            end = last;
        } else {
            from = last;
            from.push(0);
        }
    }
}

fn decode(range: &RowRange, line: &Line) -> Result<SharedRow, CallError> {
    let what = format_args!("a row of kind {:?}", range.kind);
    let key = decode_shared_key(range.kind, line.try_get(0)?).map_err(unreadable(what))?;
    let key = RowKey::Shared(key);
    match rows::decode(&key, line.try_get(1)?, line.try_get(2)?)? {
        Row::Shared(row) => Ok(row),
        _ => Err(unreadable(what)(Damaged("it is not a shared row")).into()),
    }
}
