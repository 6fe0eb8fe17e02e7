//! The effects that this node delivers, shared by the commits that add them and the tasks that
//! deliver them.

use std::collections::VecDeque;
use std::sync::Mutex;

use everstep_model::StreamNumber;
use everstep_store::OutboxRow;
use tokio::sync::Notify;

use super::routes::{Route, Routes, Waiting};
use crate::commit::OutboxSink;
use crate::lock::lock;
use crate::tasks::wait_until;

#[derive(Default)]
pub(crate) struct OutboxQueue {
    routes: Mutex<Routes>,
    changed: Notify,
    quiet: Notify,
}

impl OutboxSink for OutboxQueue {
    fn written(&self, rows: Vec<OutboxRow>) {
        self.change(|routes| routes.add(rows, true));
    }

    fn found(&self, rows: Vec<OutboxRow>) {
        self.change(|routes| routes.add(rows, false));
    }
}

impl OutboxQueue {
    pub(super) fn next(&self) -> Option<(Route, VecDeque<Waiting>)> {
        lock(&self.routes).next()
    }

    pub(super) fn forget(&self, keys: impl IntoIterator<Item = (StreamNumber, String)>) {
        lock(&self.routes).forget(keys);
    }

    /// Changes the routes and wakes the pump.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Routes) -> T) -> T {
        let mut routes = lock(&self.routes);
        let changed = change(&mut routes);
        let is_quiet = routes.is_quiet();
        drop(routes);
        self.changed.notify_one();
        if is_quiet {
            self.quiet.notify_waiters();
        }
        changed
    }

    /// Waits until the routes change. Supports a single waiter.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Waits until every effect was delivered or has failed once.
    pub(super) async fn quiet(&self) {
        wait_until(&self.quiet, || lock(&self.routes).is_quiet()).await;
    }
}
