//! One session of a worker: what it offers, and the list of what it is told.

use std::collections::VecDeque;
use std::sync::Arc;

use everstep_engine::{Offer, Offered};
use everstep_model::{Name, Timestamp};
use everstep_protocol::worker::{Assigned, Item, News};
use tokio::sync::Notify;

/// A session.
pub(super) struct Session {
    pub(super) offers: Vec<Offer>,
    pub(super) slots: u32,
    /// Its last sign of life.
    pub(super) seen_at: Timestamp,
    /// Runs it executes; those it keeps suspended do not count.
    pub(super) executing: u32,
    /// Claims of it that wait.
    pub(super) waiting: usize,
    /// Whether it takes no more runs.
    pub(super) leaving: bool,
    /// That it is offered to the engine.
    pub(super) offered: Option<Offered>,
    /// What it was told and has not acknowledged.
    items: VecDeque<Item>,
    last_item: u64,
    news: Arc<Notify>,
}

impl Session {
    pub(super) fn new(offers: Vec<Offer>, slots: u32, now: Timestamp) -> Self {
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

    pub(super) fn assign(&mut self, run: Assigned) {
        self.executing += 1;
        self.push(Some(run), None);
    }

    pub(super) fn tell(&mut self, news: News) {
        self.push(None, Some(news));
    }

    fn push(&mut self, run: Option<Assigned>, news: Option<News>) {
        self.last_item += 1;
        self.items.push_back(Item {
            number: self.last_item,
            run,
            news,
        });
        self.news.notify_waiters();
    }

    /// It has everything up to this item.
    pub(super) fn acknowledge(&mut self, number: u64) {
        while self.items.front().is_some_and(|item| item.number <= number) {
            self.items.pop_front();
        }
    }

    /// What it has not acknowledged.
    pub(super) fn items(&self) -> Vec<Item> {
        self.items.iter().cloned().collect()
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
