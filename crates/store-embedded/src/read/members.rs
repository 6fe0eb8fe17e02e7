//! Reading a set of streams, newest first.

use everstep_model::StreamNumber;
use everstep_store::StoreError;
use fjall::{Guard, Readable};

use crate::encoding::keys;
use crate::encoding::page::{self, Page};
use crate::sets::{Set, decode_or_rebuild};
use crate::storage::view::View;

/// Iterates over the members of one page, newest first.
pub(crate) struct Members {
    first: StreamNumber,
    left: Page,
}

impl Members {
    pub(crate) fn of_row(view: &View<'_>, set: &Set, row: Guard) -> Result<Self, StoreError> {
        let (key, value) = view.tables.check(row.into_inner())?;
        let first = view.check("the key of a page", keys::first_of_page(&key))?;
        let left = decode_or_rebuild(view, set, page::number_of(first), &value)?;
        Ok(Self { first, left })
    }
}

impl Iterator for Members {
    type Item = StreamNumber;

    fn next(&mut self) -> Option<StreamNumber> {
        let offset = self.left.take_last()?;
        Some(StreamNumber(self.first.0.saturating_add(offset)))
    }
}

/// Counts the members of one list.
pub(crate) fn count(view: &View<'_>, list: Vec<u8>) -> Result<u64, StoreError> {
    let list = Set::List(list);
    let pages = list.key(0)..=list.key(u64::MAX);
    let mut pages = view.snapshot.range(&view.tables.lists, pages);
    pages.try_fold(0, |number, row| {
        Ok(number + Members::of_row(view, &list, row)?.left.len())
    })
}

/// Iterates over the members of one list before `end`, newest first.
pub(crate) fn before(
    view: &View<'_>,
    list: Vec<u8>,
    end: StreamNumber,
) -> impl Iterator<Item = Result<StreamNumber, StoreError>> {
    let list = Set::List(list);
    let pages = list.key(0)..=list.key(page::number_of(end));
    let pages = view.snapshot.range(&view.tables.lists, pages);
    pages.rev().flat_map(move |row| {
        let (members, error) = match Members::of_row(view, &list, row) {
            Ok(members) => (Some(members), None),
            Err(error) => (None, Some(error)),
        };
        // Only the first page has members at or after the end.
        let members = members
            .into_iter()
            .flatten()
            .filter(move |number| *number < end);
        members.map(Ok).chain(error.map(Err))
    })
}
