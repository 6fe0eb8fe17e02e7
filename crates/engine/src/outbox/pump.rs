//! The tasks that deliver effects: at once those that this node caused, and those found in the
//! store at the start and by every sweep.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::planted::{self, Bug};
use everstep_model::{RunId, StreamNumber};
use everstep_store::{Commit, Hint, RowKey, RowsCommit, StoreError};
use futures_util::future::select;

use super::delivery::{Deliverer, Delivery};
use super::events::EVENTS_AT_ONCE;
use super::queue::OutboxQueue;
use super::routes::{Route, Routes, Waiting};
use crate::commit::OutboxSink;
use crate::commit::projection::Effect;
use crate::execution::Parts;
use crate::requests::SendEvent;

pub(crate) struct OutboxPump {
    pub(crate) parts: Arc<Parts>,
    pub(crate) queue: Arc<OutboxQueue>,
    pub(crate) deliverer: Arc<Deliverer>,
}

impl OutboxPump {
    /// Starts deliveries until the engine shuts down.
    pub(crate) async fn run(self: Arc<Self>) {
        let node = &self.parts.node;
        while !node.is_closing() {
            while let Some((route, waiting)) = self.queue.next() {
                let pump = self.clone();
                node.spawn(async move { pump.deliver_route(route, waiting).await });
            }
            let changed = std::pin::pin!(self.queue.changed());
            let late = std::pin::pin!(node.rest(node.settings.sweep_interval));
            select(changed, late).await;
        }
    }

    /// Delivers the effects that were left in the store, each once. The end of a child is then
    /// known before a timeout that is late fires.
    pub(crate) async fn deliver_leftovers(&self) -> Result<(), StoreError> {
        self.sweep().await?;
        self.queue.quiet().await;
        Ok(())
    }

    /// Sweeps periodically, in case hints get lost.
    pub(crate) async fn keep_sweeping(self: Arc<Self>) {
        let node = &self.parts.node;
        while node.rest(node.settings.sweep_interval).await {
            if let Err(error) = self.sweep().await {
                tracing::warn!(%error, "cannot read the outbox");
            }
        }
    }

    /// Adds the effects in the store that are not queued on this node yet.
    async fn sweep(&self) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.parts.node.outbox_after(&mut after).await?;
            if page.is_empty() {
                return Ok(());
            }
            self.queue.found(page);
        }
    }

    /// Adds the effects of a run that another node caused and cannot deliver.
    pub(crate) async fn adopt(&self, stream: StreamNumber) -> Result<(), StoreError> {
        self.queue.found(self.parts.node.outbox_of(stream).await?);
        Ok(())
    }

    /// Delivers the effects of a route in order, and deletes the delivered rows in one commit.
    async fn deliver_route(self: &Arc<Self>, route: Route, mut waiting: VecDeque<Waiting>) {
        if planted::is(Bug::OutboxRemovedFirst) {
            let all = waiting.iter().map(|waiting| waiting.key.clone());
            self.remove(route.0, all.collect());
        }
        let mut delivered = Vec::new();
        let mut delay = None;
        while !waiting.is_empty() && delay.is_none() && !self.parts.node.is_closing() {
            for delivery in self.deliver_next(&waiting).await {
                let Some(mut next) = waiting.pop_front() else {
                    break;
                };
                match delivery {
                    Delivery::Done => delivered.push(next.key),
                    // The awaited run may need the next effects, so this one does not block them.
                    Delivery::Awaiting(run) => self.retry_after_end(run, next),
                    Delivery::Elsewhere => {
                        if next.take_is_new() {
                            self.parts.node.hint_others(Hint::Outbox(next.stream));
                        }
                        delay = Some(self.parts.node.settings.sweep_interval);
                        waiting.push_front(next);
                        break;
                    }
                    Delivery::Later(reason) => {
                        tracing::debug!(stream = %route.0, reason, "delivery of an effect delayed");
                        delay = Some(next.failed());
                        waiting.push_front(next);
                        break;
                    }
                }
            }
        }
        // A run that accepts no more events can still be ended.
        if delay.is_some() {
            delivered.extend(self.end_target(&mut waiting).await);
        }
        self.remove(route.0, delivered);
        let left = match delay {
            Some(_) => waiting,
            None => VecDeque::new(),
        };
        let finished = |routes: &mut Routes| routes.delivered(route.clone(), left);
        let is_delayed = self.queue.change(finished);
        if let Some(delay) = delay.filter(|_| is_delayed) {
            self.resume_later(route, delay);
        }
    }

    /// Delivers the first effect of a route. If it is an event, also the events that follow it.
    async fn deliver_next(&self, waiting: &VecDeque<Waiting>) -> Vec<Delivery> {
        let events: Vec<SendEvent> = waiting
            .iter()
            .map_while(|waiting| SendEvent::of_effect(waiting.effect.as_ref()?))
            .take(EVENTS_AT_ONCE)
            .collect();
        if !events.is_empty() {
            return self.deliverer.deliver_events(events).await;
        }
        let Some(first) = waiting.front() else {
            return Vec::new();
        };
        if first.may_be_delivered() && self.is_gone(first).await {
            return vec![Delivery::Done];
        }
        match first.effect.clone() {
            Some(effect) => vec![self.deliverer.deliver(effect).await],
            None => {
                let (stream, key) = first.key();
                tracing::warn!(%stream, key, "effect written by a newer release, not delivered");
                vec![Delivery::Elsewhere]
            }
        }
    }

    /// Delivers the effect that ends the target of a route whose next event cannot be delivered.
    async fn end_target(&self, waiting: &mut VecDeque<Waiting>) -> Option<String> {
        let is_event = |first: &Waiting| matches!(first.effect, Some(Effect::SendEvent { .. }));
        if !waiting.front().is_some_and(is_event) {
            return None;
        }
        let ends = |waiting: &Waiting| {
            let effect = waiting.effect.as_ref();
            effect.is_some_and(Effect::ends_its_target)
        };
        let index = waiting.iter().position(ends)?;
        let effect = waiting.get(index)?.effect.clone()?;
        match self.deliverer.deliver(effect).await {
            Delivery::Done => waiting.remove(index).map(|done| done.key),
            Delivery::Later(_) | Delivery::Elsewhere | Delivery::Awaiting(_) => None,
        }
    }

    /// Returns whether another node has delivered an effect.
    async fn is_gone(&self, waiting: &Waiting) -> bool {
        let (stream, key) = waiting.key();
        let row = self.parts.node.store.row(RowKey::Outbox(stream, key)).await;
        matches!(row, Ok(None))
    }

    fn resume_later(self: &Arc<Self>, route: Route, delay: Duration) {
        let pump = self.clone();
        self.parts.node.spawn(async move {
            pump.parts.node.rest(delay).await;
            pump.queue.change(|routes| routes.resume(route));
        });
    }

    /// Deletes the rows of delivered effects. Until that is durable, this node does not deliver
    /// them again. If it fails, the next sweep delivers them again.
    fn remove(&self, stream: StreamNumber, delivered: Vec<String>) {
        if delivered.is_empty() {
            return;
        }
        let mut commit = RowsCommit::new(stream, self.parts.node.now());
        let keys = delivered.iter().cloned();
        commit.rows.delete = keys.map(|key| RowKey::Outbox(stream, key)).collect();
        let queue = self.queue.clone();
        let reply = move |_: &mut Commit, _| {
            queue.forget(delivered.into_iter().map(|key| (stream, key)));
        };
        self.parts.committer.submit(commit, Box::new(reply));
    }

    /// Retries an effect when a run has ended, or after a while in case that is not noticed.
    fn retry_after_end(self: &Arc<Self>, run: RunId, waiting: Waiting) {
        let pump = self.clone();
        self.parts.node.spawn(async move {
            let ended = std::pin::pin!(async {
                if pump.deliverer.requests.ended(&run, None).await.is_err() {
                    std::future::pending::<()>().await;
                }
            });
            let late = std::pin::pin!(
                pump.parts
                    .node
                    .rest(pump.parts.node.settings.sweep_interval)
            );
            select(ended, late).await;
            pump.queue.change(|routes| routes.enqueue(waiting));
        });
    }
}
