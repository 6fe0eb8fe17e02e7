//! Fakes of both ends of the import. A real program has clients of an API and of a database here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Rows per page.
const ROWS: u64 = 10;
/// One in this many pages has pictures.
const PICTURES_EVERY: u64 = 500;
/// Pictures per page that has any.
const PICTURES: u64 = 8;

/// The source of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The number of pages.
    pub pages: u64,
    /// The duration of reading a page.
    pub latency: Duration,
}

/// A page of the source.
#[derive(Clone, Debug)]
pub struct Page {
    /// The IDs of its rows.
    pub rows: Vec<u64>,
    /// The IDs of pictures to fetch one by one.
    pub pictures: Vec<u64>,
    /// The cursor of the next page; `None` after the last page.
    pub next: Option<u64>,
}

impl Source {
    /// Reads the page at a cursor.
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

/// The target of rows and pictures. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Warehouse {
    rows: Arc<Mutex<BTreeMap<u64, u32>>>,
    pictures: Arc<Mutex<BTreeMap<u64, u32>>>,
}

impl Warehouse {
    /// Writes rows by ID, so that repeating it has no effect.
    pub fn put_rows(&self, ids: &[u64]) {
        let mut rows = lock(&self.rows);
        for id in ids {
            *rows.entry(*id).or_default() += 1;
        }
    }

    /// Writes a picture by ID.
    pub fn put_picture(&self, id: u64) {
        *lock(&self.pictures).entry(id).or_default() += 1;
    }

    /// Returns the number of rows and the number of writes.
    #[must_use]
    pub fn rows(&self) -> (usize, u32) {
        let rows = lock(&self.rows);
        (rows.len(), rows.values().sum())
    }

    /// Returns the number of pictures and the number of writes.
    #[must_use]
    pub fn pictures(&self) -> (usize, u32) {
        let pictures = lock(&self.pictures);
        (pictures.len(), pictures.values().sum())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
