//! One session of a worker: what it offers, and the list of what it is told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Offer, Offered};
use everstep_model::Name;
use everstep_protocol::worker::{Assigned, Item, News};
use tokio::sync::Notify;

/// About how many bytes of items go into one answer; a single item may be larger.
const ITEMS_BYTES: usize = 4 * 1024 * 1024;

/// A session.
pub(super) struct Session {
    pub(super) offers: Vec<Offer>,
    pub(super) slots: u32,
    /// Its last sign of life, by the clock that nobody sets.
    pub(super) seen_at: Duration,
    /// Runs it executes; those it keeps suspended do not count.
    pub(super) executing: u32,
    /// Claims of it that wait.
    pub(super) waiting: usize,
    /// Whether it takes no more runs.
    pub(super) leaving: bool,
    /// That it is offered to the engine.
    pub(super) offered: Option<Offered>,
    /// What it was told and has not acknowledged.
    /// Each with about its size.
    items: VecDeque<(Item, usize)>,
    last_item: u64,
    news: Arc<Notify>,
}

impl Session {
    pub(super) fn new(offers: Vec<Offer>, slots: u32, now: Duration) -> Self {
        Self {
            offers,
            slots,
            seen_at: now,
            executing: 0,
            waiting: 0,
            leaving: false,
            offered: None,
            items: VecDeque::new(),
            last_item: 0,
            news: Arc::default(),
        }
    }

    pub(super) fn offers(&self, workflow: &Name, version: u32) -> bool {
        let fits = |offer: &Offer| offer.workflow == *workflow && offer.versions.contains(&version);
        !self.leaving && self.offers.iter().any(fits)
    }

    /// Whether it would take one more run at once. One that does not ask may be gone.
    pub(super) fn has_room(&self) -> bool {
        self.waiting > 0 && !self.leaving && self.executing < self.slots
    }

    pub(super) fn bring(&mut self, run: Assigned, bytes: usize) {
        self.push(Some(run), None, bytes);
    }

    pub(super) fn tell(&mut self, news: News) {
        let bytes = news.token.len();
        self.push(None, Some(news), bytes);
    }

    fn push(&mut self, run: Option<Assigned>, news: Option<News>, bytes: usize) {
        self.last_item += 1;
        let item = Item {
            number: self.last_item,
            run,
            news,
        };
        self.items.push_back((item, bytes));
        self.news.notify_waiters();
    }

    /// It has everything up to this item.
    pub(super) fn acknowledge(&mut self, number: u64) {
        let is_known = |(item, _): &(Item, usize)| item.number <= number;
        while self.items.front().is_some_and(is_known) {
            self.items.pop_front();
        }
    }

    /// What it has not acknowledged, or of very much the beginning: there is more once that is acknowledged.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut before = 0;
        let fits = |(_, bytes): &&(Item, usize)| {
            let is_first = before == 0;
            before += bytes;
            is_first || before <= ITEMS_BYTES
        };
        let items = self.items.iter().take_while(fits);
        items.map(|(item, _)| item.clone()).collect()
    }

    /// What is notified when it is told something.
    pub(super) fn news(&self) -> Arc<Notify> {
        self.news.clone()
    }

    /// Wakes its claims, because it is over.
    pub(super) fn wake(&self) {
        self.news.notify_waiters();
    }
}
