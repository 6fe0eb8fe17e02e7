//! Reading a set of streams, newest first.

use everstep_model::StreamNumber;
use everstep_store::StoreError;
use fjall::{Guard, Iter, Readable};

use crate::encoding::keys;
use crate::encoding::page::{self, Page};
use crate::sets::{Set, decode_or_make};
use crate::storage::view::View;

/// The members on one page that are still to come.
#[derive(Default)]
pub(crate) struct Members {
    first: StreamNumber,
    left: Page,
}

impl Members {
    pub(crate) fn of_row(view: &View<'_>, set: &Set, row: Guard) -> Result<Self, StoreError> {
        let (key, value) = row
            .into_inner()
            .map_err(|error| view.tables.failed(&error))?;
        let first = keys::first_of_page(&key);
        let first = first.map_err(|d| view.damaged("the key of a page", d))?;
        let left = decode_or_make(view, set, page::number_of(first), &value)?;
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

/// The number of members of one list.
pub(crate) fn count(view: &View<'_>, list: Vec<u8>) -> Result<u64, StoreError> {
    let list = Set::List(list);
    let pages = list.key(0)..=list.key(u64::MAX);
    let mut pages = view.snapshot.range(&view.tables.lists, pages);
    pages.try_fold(0, |number, row| {
        Ok(number + Members::of_row(view, &list, row)?.left.len())
    })
}

/// The members of one list before a stream.
pub(crate) struct ListWalk {
    list: Set,
    pages: Iter,
    page: Members,
    end: StreamNumber,
}

impl ListWalk {
    pub(crate) fn new(view: &View<'_>, list: Vec<u8>, end: StreamNumber) -> Self {
        let list = Set::List(list);
        let pages = list.key(0)..=list.key(page::number_of(end));
        Self {
            list,
            pages: view.snapshot.range(&view.tables.lists, pages),
            page: Members::default(),
            end,
        }
    }

    pub(crate) fn next(&mut self, view: &View<'_>) -> Result<Option<StreamNumber>, StoreError> {
        loop {
            // Only the page that the end is on has some that are behind it.
            if let Some(number) = self.page.find(|number| *number < self.end) {
                return Ok(Some(number));
            }
            let Some(row) = self.pages.next_back() else {
                return Ok(None);
            };
            self.page = Members::of_row(view, &self.list, row)?;
        }
    }
}
