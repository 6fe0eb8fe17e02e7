//! One session of a worker: what it offers, and the items that it has not acknowledged yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::{Offer, Offered};
use everstep_model::Name;
use everstep_protocol::worker::{Assigned, Item, News};
use tokio::sync::Notify;

/// The approximate size of the items in one answer. A single item may be larger.
const ITEMS_BYTES: usize = 4 * 1024 * 1024;

pub(super) struct Session {
    pub(super) offers: Vec<Offer>,
    pub(super) slots: u32,
    /// The time of the last request, on the monotonic clock.
    pub(super) seen_at: Duration,
    /// The number of runs that it executes, without suspended ones.
    pub(super) executing: u32,
    /// The number of waiting claims.
    pub(super) waiting: usize,
    /// Whether it accepts no more runs.
    pub(super) leaving: bool,
    /// The registration as a worker of the engine.
    pub(super) offered: Option<Offered>,
    /// Unacknowledged items with their approximate sizes.
    items: VecDeque<(Item, usize)>,
    last_item: u64,
    /// Notified when an item is added or the session ends.
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

    /// Returns whether it can take a run now. A session without a waiting claim may be gone.
    pub(super) fn has_room(&self) -> bool {
        self.waiting > 0 && !self.leaving && self.executing < self.slots
    }

    pub(super) fn push_run(&mut self, run: Assigned, bytes: usize) {
        self.push(Some(run), None, bytes);
    }

    pub(super) fn push_news(&mut self, news: News) {
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

    /// Removes all items up to this number.
    pub(super) fn acknowledge(&mut self, number: u64) {
        let is_acknowledged = |(item, _): &(Item, usize)| item.number <= number;
        while self.items.front().is_some_and(is_acknowledged) {
            self.items.pop_front();
        }
    }

    /// Returns the first unacknowledged items, up to about [`ITEMS_BYTES`].
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

    pub(super) fn news(&self) -> Arc<Notify> {
        self.news.clone()
    }

    /// Wakes its claims when the session ends.
    pub(super) fn wake(&self) {
        self.news.notify_waiters();
    }
}
