//! Sets of streams: the lists of runs by workflow and status and by tag, and the ready runs.
//!
//! A set is rows of 512 neighbours each. Runs that are alive together were created together, so a
//! batch that creates and ends dozens of them changes a handful of rows; a row for each member
//! would be written and deleted all the time.
//!
//! All of them follow from the heads. A row that is damaged is therefore made again from those.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_model::StreamNumber;
use everstep_store::{Head, StoreError};
use fjall::{Keyspace, OwnedWriteBatch, Readable};

use crate::encoding::keys;
use crate::encoding::page::{self, Page};
use crate::failure;
use crate::generations::Generations;
use crate::storage::tables::Tables;
use crate::storage::view::View;

/// Pages kept in memory: as many as runs in use are on, and few of those are on pages of their own.
const PAGES_KNOWN: usize = 4_096;

/// A set of streams.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Set {
    /// Those that have a ready mark.
    Ready,
    /// What the keys of a list begin with.
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

/// The sets that a stream with this head is in.
pub(crate) fn sets_of(head: &Head) -> Vec<Set> {
    let mut sets = Vec::new();
    if head.ready {
        sets.push(Set::Ready);
    }
    if let Some(run) = head.listed() {
        sets.push(Set::List(keys::status(&run.workflow, run.status)));
        sets.extend(run.tags.iter().map(|tag| Set::List(keys::tag(tag))));
    }
    sets
}

/// A set, and the number of one of its pages.
pub(crate) type PageKey = (Set, u64);
pub(crate) type Pages = HashMap<PageKey, Page>;

/// The pages that were written last, as they are durable. Only the committer uses them.
pub(crate) struct KnownPages(Mutex<Generations<PageKey, Page>>);

impl KnownPages {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Generations::new(PAGES_KNOWN)))
    }

    fn pages(&self) -> MutexGuard<'_, Generations<PageKey, Page>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, key: &PageKey) -> Option<Page> {
        self.pages().get(key)
    }

    /// The pages of a batch that is durable.
    pub(crate) fn publish(&self, batch: Pages) {
        let mut pages = self.pages();
        for (key, page) in batch {
            pages.keep(key, page);
        }
    }
}

/// A row for each page that has members.
pub(crate) fn put_rows(pages: &Pages, tables: &Tables, rows: &mut OwnedWriteBatch) {
    for ((set, number), page) in pages {
        let (table, key) = (set.table(tables), set.key(*number));
        if page.is_empty() {
            rows.remove(table, key);
        } else {
            rows.insert(table, key, page.encode());
        }
    }
}

/// A page as it is durable.
pub(crate) fn load(view: &View<'_>, (set, number): &PageKey) -> Result<Page, StoreError> {
    let table = set.table(view.tables);
    match view.snapshot.get(table, set.key(*number)) {
        Ok(None) => Ok(Page::default()),
        Ok(Some(bytes)) => decode_or_make(view, set, *number, &bytes),
        Err(error) => make_again(view, set, *number, view.tables.failed(&error)),
    }
}

/// A page from the bytes of its row.
pub(crate) fn decode_or_make(
    view: &View<'_>,
    set: &Set,
    number: u64,
    bytes: &[u8],
) -> Result<Page, StoreError> {
    let page = Page::decode(bytes).map_err(|d| view.damaged("a page of a set of streams", d));
    page.or_else(|error| make_again(view, set, number, error))
}

/// Where a page is damaged, the heads say what it must be.
fn make_again(
    view: &View<'_>,
    set: &Set,
    number: u64,
    error: StoreError,
) -> Result<Page, StoreError> {
    let StoreError::Corrupt { .. } = error else {
        return Err(error);
    };
    failure::made_again(&format!("page {number} of {set:?}"), &error);
    let mut page = Page::default();
    for stream in page::streams_of(number) {
        let is_member = sets_of_stream(view, stream)?.contains(set);
        page.put(stream, is_member);
    }
    Ok(page)
}

/// The sets that a stream must be in. One whose head is damaged is in none.
pub(crate) fn sets_of_stream(
    view: &View<'_>,
    stream: StreamNumber,
) -> Result<Vec<Set>, StoreError> {
    match view.head_row(stream) {
        Err(error @ StoreError::Corrupt { .. }) => {
            failure::left_out("sets of streams", &error);
            Ok(Vec::new())
        }
        head => Ok(head?.as_ref().map(sets_of).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everstep_model::RunStatus;
    use everstep_store::{Commit, ListQuery, Store};
    use everstep_store_testkit::sample::{inbox, run_creation};
    use everstep_store_testkit::{Fixture, TestClock, block_on};

    use super::*;
    use crate::EmbeddedStore;

    fn creation(id: &str) -> Commit {
        let mut commit = run_creation(id, "order", RunStatus::Running);
        commit.ready = true;
        commit.into()
    }

    fn end(stream: StreamNumber) -> Commit {
        let mut commit = inbox(stream, vec![]);
        commit.ready = Some(false);
        commit.status = Some(RunStatus::Completed);
        commit.into()
    }

    async fn ids(f: &Fixture<EmbeddedStore>, status: RunStatus) -> Vec<String> {
        let query = ListQuery {
            statuses: vec![status],
            limit: 10,
            ..ListQuery::default()
        };
        let page = f.store.list(query).await.unwrap();
        page.rows.iter().map(|row| row.id.to_string()).collect()
    }

    #[test]
    fn a_damaged_page_is_made_again_from_the_heads() {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            let clock = Arc::new(TestClock::new());
            let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
            Fixture { store, clock }
        };
        block_on(async {
            let f = open();
            let first = f.create_with(creation("a")).await;
            f.create_with(creation("b")).await;
            f.create_with(creation("c")).await;
            let tables = &f.store.0.tables;
            for table in [&tables.lists, &tables.ready] {
                for row in table.iter() {
                    table.insert(row.key().unwrap(), [0xff; 3]).unwrap();
                }
            }
            drop(f);
            // Nothing is known of it any more.
            let f = open();
            assert_eq!(f.store.ready(None, 10).await.unwrap().len(), 3);
            assert_eq!(ids(&f, RunStatus::Running).await, ["c", "b", "a"]);
            f.accept(end(first)).await;
            drop(f);
            let f = open();
            assert_eq!(f.store.ready(None, 10).await.unwrap().len(), 2);
            assert_eq!(ids(&f, RunStatus::Running).await, ["c", "b"]);
            assert_eq!(ids(&f, RunStatus::Completed).await, ["a"]);
            let decoded = |row: fjall::Guard| Page::decode(&row.value().unwrap());
            assert!(
                f.store
                    .0
                    .tables
                    .lists
                    .iter()
                    .all(|row| decoded(row).is_ok())
            );
        });
    }

    #[test]
    fn runs_that_come_and_go_together_write_a_few_rows() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::new());
        let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
        let f = Fixture { store, clock };
        block_on(async {
            let names: Vec<String> = (0..100).map(|run| format!("run-{run}")).collect();
            let created = names.iter().map(|id| creation(id)).collect::<Vec<_>>();
            f.store.commit(&created).await.unwrap();
            let count = |table: &Keyspace| table.iter().count();
            let tables = &f.store.0.tables;
            assert_eq!((count(&tables.lists), count(&tables.ready)), (1, 1));
            let numbers = (1..).map(StreamNumber);
            let ended = numbers.zip(&names).map(|(stream, _)| end(stream));
            f.store.commit(&ended.collect::<Vec<_>>()).await.unwrap();
            assert_eq!((count(&tables.lists), count(&tables.ready)), (1, 0));
        });
    }
}
