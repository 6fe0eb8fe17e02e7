//! The effects that this node delivers, shared by the commits that add them and the tasks that
//! deliver them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};

use everstep_model::StreamNumber;
use everstep_store::OutboxRow;

use super::routes::{Route, Routes, Waiting};
use crate::commit::OutboxSink;
use crate::lock::lock;

#[derive(Default)]
pub(crate) struct OutboxQueue(Mutex<State>);

#[derive(Default)]
struct State {
    routes: Routes,
    changed: bool,
    pump: Option<Waker>,
    quiet: Vec<Waker>,
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
        lock(&self.0).routes.next()
    }

    pub(super) fn forget(&self, keys: impl IntoIterator<Item = (StreamNumber, String)>) {
        lock(&self.0).routes.forget(keys);
    }

    /// Changes the routes and wakes the pump.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Routes) -> T) -> T {
        let mut state = lock(&self.0);
        let changed = change(&mut state.routes);
        state.changed = true;
        let mut wakers: Vec<Waker> = state.pump.take().into_iter().collect();
        if state.routes.is_quiet() {
            wakers.append(&mut state.quiet);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        changed
    }

    /// Waits until the routes change. Supports a single waiter.
    pub(super) async fn changed(&self) {
        poll_fn(|context| {
            let mut state = lock(&self.0);
            if std::mem::take(&mut state.changed) {
                return Poll::Ready(());
            }
            state.pump = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until every effect was delivered or has failed once.
    pub(super) async fn quiet(&self) {
        poll_fn(|context| {
            let mut state = lock(&self.0);
            if state.routes.is_quiet() {
                return Poll::Ready(());
            }
            state.quiet.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
