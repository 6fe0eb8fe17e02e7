//! Ranges of shared rows.

use everstep_store::encoding::{Damaged, range_bounds};
use everstep_store::{Row, RowKey, RowRange, SharedRow, StoreError};
use fjall::{Guard, Readable};

use crate::encoding::keys;
use crate::encoding::values;
use crate::failure;
use crate::storage::view::View;

pub(crate) fn rows(view: &View<'_>, range: &RowRange) -> Result<Vec<SharedRow>, StoreError> {
    let Some((from, end)) = range_bounds(range) else {
        return Ok(Vec::new());
    };
    let bound = |key: Vec<u8>| keys::shared_row(range.kind, &key);
    let keys = bound(from)..bound(end);
    let found = view.snapshot.range(&view.tables.lookups, keys);
    let rows = found.map(|row| decode(view, range, row));
    match range.reverse {
        false => readable(rows, range.limit),
        true => readable(rows.rev(), range.limit),
    }
}

fn decode(view: &View<'_>, range: &RowRange, row: Guard) -> Result<SharedRow, StoreError> {
    let (key, value) = view.tables.check(row.into_inner())?;
    let key = keys::shared_key(range.kind, &key);
    let key = RowKey::Shared(view.check("the key of a shared row", key)?);
    match view.check("a shared row", values::decode_row(&key, &value))? {
        Row::Shared(row) => Ok(row),
        _ => Err(view.unreadable("a shared row", Damaged("it is a row of another kind"))),
    }
}

/// Returns the first readable rows. Damaged rows are logged and skipped.
fn readable(
    rows: impl Iterator<Item = Result<SharedRow, StoreError>>,
    limit: usize,
) -> Result<Vec<SharedRow>, StoreError> {
    let mut readable = Vec::new();
    for row in rows {
        if readable.len() >= limit {
            break;
        }
        match row {
            Err(error) if error.is_damage() => failure::log_skipped("shared rows", &error),
            row => readable.push(row?),
        }
    }
    Ok(readable)
}
