//! The two ends of the import, faked in this process. A real program has clients of an API and of a database here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many rows a page has.
const ROWS: u64 = 10;
/// One page in so many comes with pictures.
const PICTURES_EVERY: u64 = 500;
/// How many pictures such a page has.
const PICTURES: u64 = 8;

/// Where the rows come from, a page at a time.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// How many pages there are.
    pub pages: u64,
    /// How long each takes to come.
    pub latency: Duration,
}

/// One page of the source.
#[derive(Clone, Debug)]
pub struct Page {
    /// The ids of its rows.
    pub rows: Vec<u64>,
    /// The ids of pictures that have to be fetched one by one.
    pub pictures: Vec<u64>,
    /// Where the next page begins; none after the last.
    pub next: Option<u64>,
}

impl Source {
    /// The page at a cursor.
    pub async fn page(&self, cursor: u64) -> Page {
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        let next = cursor + 1;
        let has_pictures = next.is_multiple_of(PICTURES_EVERY);
        let pictures = if has_pictures { PICTURES } else { 0 };
        Page {
            rows: (cursor * ROWS..next * ROWS).collect(),
            pictures: (0..pictures)
                .map(|picture| cursor * PICTURES + picture)
                .collect(),
            next: (next < self.pages).then_some(next),
        }
    }
}

/// Where rows and pictures go. Clones are the same warehouse.
#[derive(Clone, Debug, Default)]
pub struct Warehouse {
    rows: Arc<Mutex<BTreeMap<u64, u32>>>,
    pictures: Arc<Mutex<BTreeMap<u64, u32>>>,
}

impl Warehouse {
    /// Writes rows by their ids, so that writing them again changes nothing.
    pub fn put_rows(&self, ids: &[u64]) {
        let mut rows = lock(&self.rows);
        for id in ids {
            *rows.entry(*id).or_default() += 1;
        }
    }

    /// Writes a picture by its id.
    pub fn put_picture(&self, id: u64) {
        *lock(&self.pictures).entry(id).or_default() += 1;
    }

    /// How many rows there are, and how many writes that took.
    #[must_use]
    pub fn rows(&self) -> (usize, u32) {
        let rows = lock(&self.rows);
        (rows.len(), rows.values().sum())
    }

    /// How many pictures there are, and how many writes that took.
    #[must_use]
    pub fn pictures(&self) -> (usize, u32) {
        let pictures = lock(&self.pictures);
        (pictures.len(), pictures.values().sum())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
