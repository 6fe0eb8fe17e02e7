//! The task that delivers effects: at once what this node caused, and whatever is found in the store at the start and by
//! every sweep.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use everstep_model::planted::{self, Bug};
use everstep_model::{RunId, StreamNumber};
use everstep_store::{Commit, Hint, OutboxRow, RowKey, RowsCommit, StoreError};
use futures_util::future::select;

use super::delivery::Delivery;
use super::effect::Effect;
use super::events::EVENTS_AT_ONCE;
use super::lane::{Lane, Lanes, Waiting};
use crate::core::Core;
use crate::send::SendEvent;

/// Effects read from the store at once.
const PAGE: usize = 1_000;
/// Effects of one run read at once; few runs have more.
const PAGE_OF_RUN: usize = 64;

#[derive(Default)]
pub(crate) struct Outbox(Mutex<State>);

#[derive(Default)]
struct State {
    lanes: Lanes,
    changed: bool,
    pump: Option<Waker>,
    quiet: Vec<Waker>,
}

impl Outbox {
    /// Effects that were written with a commit of this node.
    pub(crate) fn caused(&self, rows: Vec<OutboxRow>) {
        if !rows.is_empty() {
            self.change(|lanes| lanes.add(rows, true));
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Lanes) -> T) -> T {
        let mut state = self.state();
        let changed = change(&mut state.lanes);
        state.changed = true;
        let mut wakers: Vec<Waker> = state.pump.take().into_iter().collect();
        if state.lanes.is_quiet() {
            wakers.append(&mut state.quiet);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        changed
    }

    fn poll_changed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if std::mem::take(&mut state.changed) {
            return Poll::Ready(());
        }
        state.pump = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_quiet(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.lanes.is_quiet() {
            return Poll::Ready(());
        }
        state.quiet.push(context.waker().clone());
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// The pump's task.
    pub(crate) async fn run_outbox(self: Arc<Self>) {
        while !self.is_closing() {
            while let Some((lane, waiting)) = self.next_lane() {
                let core = self.clone();
                self.spawn(Box::pin(async move {
                    core.deliver_lane(lane, waiting).await;
                }));
            }
            let changed = std::pin::pin!(poll_fn(|context| self.outbox.poll_changed(context)));
            let stopping = std::pin::pin!(self.rest(self.settings.sweep_interval));
            select(changed, stopping).await;
        }
    }

    fn next_lane(&self) -> Option<(Lane, VecDeque<Waiting>)> {
        self.outbox.state().lanes.next()
    }

    /// Tries everything that was left behind. What a child came to is known before a timeout fires that is late.
    pub(crate) async fn settle_outbox(self: &Arc<Self>) -> Result<(), StoreError> {
        self.sweep_outbox().await?;
        poll_fn(|context| self.outbox.poll_quiet(context)).await;
        Ok(())
    }

    /// The safety net: whatever is in the store and not known here.
    pub(crate) async fn keep_sweeping_outbox(self: Arc<Self>) {
        while !self.is_closing() {
            self.rest(self.settings.sweep_interval).await;
            if self.is_closing() {
                return;
            }
            if let Err(error) = self.sweep_outbox().await {
                tracing::warn!(%error, "effects could not be read");
            }
        }
    }

    async fn sweep_outbox(&self) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.store.outbox(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some((last.stream, last.key.clone()));
            self.outbox.change(|lanes| lanes.add(page, false));
        }
    }

    /// Takes in the effects of one run that another node caused: it cannot deliver them itself, or it died. Whoever goes on
    /// executing the run does so first, so that what it causes now does not overtake them.
    pub(crate) async fn follow_outbox(&self, stream: StreamNumber) -> Result<(), StoreError> {
        let before = StreamNumber(stream.0.saturating_sub(1));
        let mut after = Some((before, char::MAX.to_string()));
        loop {
            let mut page = self.store.outbox(after, PAGE_OF_RUN).await?;
            let read = page.len();
            page.retain(|row| row.stream == stream);
            let is_last = page.len() < PAGE_OF_RUN || read < PAGE_OF_RUN;
            after = page.last().map(|last| (last.stream, last.key.clone()));
            self.outbox.change(|lanes| lanes.add(page, false));
            if is_last {
                return Ok(());
            }
        }
    }

    /// Delivers what waits in a lane, in order, and takes the delivered rows away with one commit.
    async fn deliver_lane(self: &Arc<Self>, lane: Lane, mut waiting: VecDeque<Waiting>) {
        if planted::is(Bug::OutboxRemovedFirst) {
            let all = waiting.iter().map(|waiting| waiting.key.clone());
            self.take_away(lane.0, all.collect());
        }
        let mut delivered = Vec::new();
        let mut rest = None;
        while !waiting.is_empty() && rest.is_none() && !self.is_closing() {
            for delivery in self.deliver_next(&waiting).await {
                let Some(mut next) = waiting.pop_front() else {
                    break;
                };
                match delivery {
                    Delivery::Done => delivered.push(next.key),
                    // It holds up nothing: the run that is waited for may need what comes next.
                    Delivery::Awaiting(run) => self.wait_for(run, next),
                    Delivery::Elsewhere => {
                        self.leave_to_others(&mut next);
                        rest = Some(self.settings.sweep_interval);
                        waiting.push_front(next);
                        break;
                    }
                    Delivery::Later(why) => {
                        tracing::debug!(stream = %lane.0, why, "an effect is delivered later");
                        rest = Some(next.failed());
                        waiting.push_front(next);
                        break;
                    }
                }
            }
        }
        // A run that takes no more events may end all the same.
        if rest.is_some() {
            delivered.extend(self.end_target(&mut waiting).await);
        }
        self.take_away(lane.0, delivered);
        let left = if rest.is_some() {
            waiting
        } else {
            VecDeque::new()
        };
        let rests = self
            .outbox
            .change(|lanes| lanes.delivered(lane.clone(), left));
        if let Some(rest) = rest.filter(|_| rests) {
            self.rest_lane(lane, rest);
        }
    }

    /// Delivers the first effect of a lane; if it is an event, also those that follow it.
    async fn deliver_next(self: &Arc<Self>, waiting: &VecDeque<Waiting>) -> Vec<Delivery> {
        let events: Vec<SendEvent> = waiting
            .iter()
            .map_while(|waiting| waiting.effect.as_ref()?.event())
            .take(EVENTS_AT_ONCE)
            .collect();
        if !events.is_empty() {
            return self.deliver_events(events).await;
        }
        let Some(first) = waiting.front() else {
            return Vec::new();
        };
        if first.is_old() && self.is_gone(first).await {
            return vec![Delivery::Done];
        }
        match first.effect.clone() {
            Some(effect) => vec![self.deliver_effect(effect).await],
            None => {
                let (stream, key) = first.key();
                tracing::warn!(%stream, key, "an effect cannot be read here; it stays");
                vec![Delivery::Elsewhere]
            }
        }
    }

    /// Delivers what ends the target of a lane whose next event cannot be delivered.
    async fn end_target(self: &Arc<Self>, waiting: &mut VecDeque<Waiting>) -> Option<String> {
        let is_event = |first: &Waiting| matches!(first.effect, Some(Effect::SendEvent { .. }));
        if !waiting.front().is_some_and(is_event) {
            return None;
        }
        let ends = |waiting: &Waiting| {
            let effect = waiting.effect.as_ref();
            effect.is_some_and(Effect::ends_its_target)
        };
        let place = waiting.iter().position(ends)?;
        let effect = waiting.get(place)?.effect.clone()?;
        match self.deliver_effect(effect).await {
            Delivery::Done => waiting.remove(place).map(|done| done.key),
            Delivery::Later(_) | Delivery::Elsewhere | Delivery::Awaiting(_) => None,
        }
    }

    /// Whether another node has delivered it meanwhile.
    async fn is_gone(&self, waiting: &Waiting) -> bool {
        let (stream, key) = waiting.key();
        let row = self.store.row(RowKey::Outbox(stream, key)).await;
        matches!(row, Ok(None))
    }

    fn rest_lane(self: &Arc<Self>, lane: Lane, rest: Duration) {
        let core = self.clone();
        self.spawn(Box::pin(async move {
            core.rest(rest).await;
            core.outbox.change(|lanes| lanes.rested(lane));
        }));
    }

    /// Removes delivered effects. Until that is durable nobody here tries them again; if it fails, the next sweep does.
    fn take_away(self: &Arc<Self>, stream: StreamNumber, delivered: Vec<String>) {
        if delivered.is_empty() {
            return;
        }
        let mut commit = RowsCommit::new(stream, self.runtime.now());
        let keys = delivered.iter().cloned();
        commit.rows.delete = keys.map(|key| RowKey::Outbox(stream, key)).collect();
        let core = self.clone();
        let reply = move |_: &mut Commit, _| {
            let keys = delivered.into_iter().map(|key| (stream, key));
            core.outbox.state().lanes.forget(keys);
        };
        self.committer.submit(commit, Box::new(reply));
    }

    /// Another node may know the workflow. It stays here all the same, so that what comes later does not overtake it.
    fn leave_to_others(&self, waiting: &mut Waiting) {
        if waiting.is_news() && !self.store.describe().exclusive {
            self.bus.publish(Hint::Outbox(waiting.stream));
        }
    }

    /// Tries again when the run is over, or after a while, should that news be lost.
    fn wait_for(self: &Arc<Self>, run: RunId, waiting: Waiting) {
        let core = self.clone();
        self.spawn(Box::pin(async move {
            let ended = std::pin::pin!(async {
                // Whoever cannot watch it looks again after a while.
                if core.ended(&run, None).await.is_err() {
                    std::future::pending::<()>().await;
                }
            });
            let rest = std::pin::pin!(core.rest(core.settings.sweep_interval));
            select(ended, rest).await;
            core.outbox.change(|lanes| lanes.wait(waiting));
        }));
    }
}
