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
        false => sound(rows, range.limit),
        true => sound(rows.rev(), range.limit),
    }
}

fn decode(view: &View<'_>, range: &RowRange, row: Guard) -> Result<SharedRow, StoreError> {
    let row = row.into_inner();
    let (key, value) = row.map_err(|error| view.tables.failed(&error))?;
    let key = keys::shared_key(range.kind, &key);
    let key = key.map_err(|d| view.damaged("the key of a shared row", d))?;
    match values::decode_row(&RowKey::Shared(key), &value) {
        Ok(Row::Shared(row)) => Ok(row),
        Ok(_) => Err(view.damaged("a shared row", Damaged("it is a row of another kind"))),
        Err(error) => Err(view.unreadable("a shared row", error)),
    }
}

/// The first rows that can be read. Damaged rows are logged and left out.
fn sound(
    rows: impl Iterator<Item = Result<SharedRow, StoreError>>,
    limit: usize,
) -> Result<Vec<SharedRow>, StoreError> {
    let mut sound = Vec::new();
    for row in rows {
        if sound.len() >= limit {
            break;
        }
        match row {
            Err(error) if error.is_damage() => failure::left_out("shared rows", &error),
            row => sound.push(row?),
        }
    }
    Ok(sound)
}
