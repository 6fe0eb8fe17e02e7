//! Sets of streams: the lists of all runs, by hour of creation, by workflow and status, and by tag,
//! and the ready runs.
//!
//! A set consists of pages, which are rows for 512 consecutive stream numbers each. Runs that are
//! active at the same time have usually been created together, so a batch that creates and ends
//! dozens of them changes a handful of pages. One row per member would cause far more writes and
//! deletions.
//!
//! All sets can be derived from the heads, so a damaged page is rebuilt from those.

use std::collections::HashMap;

use everstep_model::StreamNumber;
use everstep_store::{Head, StoreError};
use fjall::{Keyspace, OwnedWriteBatch, Readable};

use crate::encoding::keys;
use crate::encoding::page::{self, Page};
use crate::failure;
use crate::generations::Cache;
use crate::storage::tables::{Tables, put};
use crate::storage::view::View;

/// The number of cached pages. Runs in use are spread over fewer pages than that.
pub(crate) const PAGES_CACHED: usize = 4_096;

/// A set of streams.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Set {
    /// The streams with a ready mark.
    Ready,
    /// The list with this prefix of its keys.
    List(Vec<u8>),
}

impl Set {
    fn table<'a>(&self, tables: &'a Tables) -> &'a Keyspace {
        match self {
            Self::Ready => &tables.ready,
            Self::List(_) => &tables.lists,
        }
    }

    pub(crate) fn key(&self, page: u64) -> Vec<u8> {
        match self {
            Self::Ready => keys::page(&[], page),
            Self::List(list) => keys::page(list, page),
        }
    }
}

/// Returns the sets that contain a stream with this head.
pub(crate) fn sets_of(head: &Head) -> Vec<Set> {
    let mut sets = Vec::new();
    if head.ready {
        sets.push(Set::Ready);
    }
    if let Some(run) = head.listed() {
        sets.push(Set::List(keys::ALL_RUNS.to_vec()));
        sets.push(Set::List(keys::created_in(keys::hour(run.created_at))));
        sets.push(Set::List(keys::status(&run.workflow, run.status)));
        sets.extend(run.tags.iter().map(|tag| Set::List(keys::tag(tag))));
    }
    sets
}

/// A set and the number of one of its pages.
pub(crate) type PageKey = (Set, u64);
pub(crate) type Pages = HashMap<PageKey, Page>;

/// A cache of durable pages. Only the write path uses it.
pub(crate) type PageCache = Cache<PageKey, Page>;

/// Writes pages. An empty page has no row.
pub(crate) fn put_rows(pages: &Pages, tables: &Tables, rows: &mut OwnedWriteBatch) {
    for ((set, number), page) in pages {
        let value = (!page.is_empty()).then(|| page.encode());
        put(rows, set.table(tables), set.key(*number), value);
    }
}

/// Reads a page.
pub(crate) fn load(view: &View<'_>, (set, number): &PageKey) -> Result<Page, StoreError> {
    let table = set.table(view.tables);
    match view.snapshot.get(table, set.key(*number)) {
        Ok(None) => Ok(Page::default()),
        Ok(Some(bytes)) => decode_or_rebuild(view, set, *number, &bytes),
        Err(error) => rebuild(view, set, *number, view.tables.failed(&error)),
    }
}

/// Decodes a page, or rebuilds it if it is damaged.
pub(crate) fn decode_or_rebuild(
    view: &View<'_>,
    set: &Set,
    number: u64,
    bytes: &[u8],
) -> Result<Page, StoreError> {
    let page = view.check("a page of a set of streams", Page::decode(bytes));
    page.or_else(|error| rebuild(view, set, number, error))
}

/// Rebuilds a damaged page from the heads of its streams.
fn rebuild(view: &View<'_>, set: &Set, number: u64, error: StoreError) -> Result<Page, StoreError> {
    let StoreError::Corrupt { .. } = error else {
        return Err(error);
    };
    tracing::error!(%error, page = number, ?set, "damaged page rebuilt from the heads of its streams");
    let mut page = Page::default();
    for stream in page::streams_of(number) {
        let is_member = sets_of_stream(view, stream)?.contains(set);
        page.put(stream, is_member);
    }
    Ok(page)
}

/// Returns the sets that contain a stream according to its head; none if the head is damaged.
pub(crate) fn sets_of_stream(
    view: &View<'_>,
    stream: StreamNumber,
) -> Result<Vec<Set>, StoreError> {
    match view.head_row(stream) {
        Err(error @ StoreError::Corrupt { .. }) => {
            failure::log_skipped("sets of streams", &error);
            Ok(Vec::new())
        }
        head => Ok(head?.as_ref().map(sets_of).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
