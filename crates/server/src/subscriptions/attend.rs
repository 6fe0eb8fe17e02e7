//! The task behind subscriptions: it hears of streams that grow and of leases that run out, and picks up after a restart.

use std::sync::{Arc, Weak};
use std::time::Duration;

use everstep_engine::streams::StreamPath;
use everstep_model::Timestamp;
use tokio::sync::broadcast;

use super::error::Refused;
use super::register::Subscriptions;
use super::state::Kind;

/// How often all are looked at: other servers on the same store may have changed things, and what failed is tried again.
const SWEEP: Duration = Duration::from_secs(60);

impl Subscriptions {
    /// Starts the task; it ends when the server is gone.
    pub(crate) fn start(self: &Arc<Self>) {
        tokio::spawn(attend(Arc::downgrade(self)));
    }

    async fn pick_up(self: &Arc<Self>) {
        let ids = match self.index().await {
            Ok(ids) => ids,
            Err(error) => {
                tracing::error!(%error, "the subscriptions cannot be read");
                return;
            }
        };
        for id in ids {
            match self.load(&id).await {
                Ok(Some((_, subscription))) => {
                    self.know(&subscription);
                    self.look(&id).await;
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, id, "a subscription cannot be read"),
            }
        }
    }

    /// Listens as long as there is a subscription, so that appends nobody cares for wake nobody.
    async fn listen(self: &Arc<Self>, changes: &mut Option<broadcast::Receiver<StreamPath>>) {
        if !self.has_any() {
            *changes = None;
        } else if changes.is_none() {
            *changes = Some(self.streams.changes());
            // What grew before is found by looking.
            for id in self.all() {
                self.look(&id).await;
            }
        }
    }

    /// A stream has grown.
    async fn grown(self: &Arc<Self>, path: &str) {
        for id in self.linked_to(path) {
            note(&id, self.consider(&id).await);
        }
    }

    /// Does what is due for a subscription.
    async fn look(self: &Arc<Self>, id: &str) {
        note(id, self.consider(id).await);
        note(id, self.look_at_wake(id).await);
    }

    async fn look_at_wake(self: &Arc<Self>, id: &str) -> Result<bool, Refused> {
        let subscription = self.find(id).await?;
        let (Some(wake), now) = (&subscription.wake, self.streams.now()) else {
            return Ok(false);
        };
        if wake.retry_at.is_some_and(|retry_at| retry_at <= now) {
            let generation = subscription.generation;
            let changed = self.change(id, |subscription| {
                let is_same = subscription.generation == generation;
                let wake = subscription.wake.as_mut().filter(|_| is_same);
                Ok(wake.map(|wake| wake.retry_at = None).is_some())
            });
            let (subscription, is_same) = changed.await?;
            if is_same {
                self.deliver(&subscription).await?;
            }
            return Ok(is_same);
        }
        let is_held = wake.holder.is_some() || subscription.config.kind == Kind::Webhook;
        let has_ended = is_held && wake.retry_at.is_none() && wake.lease_until <= now;
        match has_ended {
            true => self.wake(id, subscription.generation).await,
            false => {
                self.schedule.set(id, subscription.due());
                Ok(false)
            }
        }
    }
}

async fn attend(server: Weak<Subscriptions>) {
    let (mut sweep_at, mut changes) = (Timestamp::default(), None);
    loop {
        let Some(it) = server.upgrade() else { return };
        let now = it.streams.now();
        if sweep_at <= now {
            it.pick_up().await;
            sweep_at = now.after(SWEEP);
        }
        it.listen(&mut changes).await;
        let schedule = it.schedule.clone();
        let due = schedule.next().map_or(sweep_at, |due| due.min(sweep_at));
        // Nobody is kept alive by somebody who waits.
        drop(it);
        let changed = tokio::select! {
            changed = next(&mut changes) => changed.map(Some),
            () = tokio::time::sleep(now.until(due)) => Ok(None),
            () = schedule.changed.notified() => Ok(None),
        };
        let Some(it) = server.upgrade() else { return };
        match changed {
            Ok(Some(path)) => it.grown(path.as_str()).await,
            Ok(None) => {}
            Err(broadcast::error::RecvError::Lagged(_)) => {
                for id in it.all() {
                    it.look(&id).await;
                }
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
        for id in it.schedule.take_due(it.streams.now()) {
            it.look(&id).await;
        }
    }
}

async fn next(
    changes: &mut Option<broadcast::Receiver<StreamPath>>,
) -> Result<StreamPath, broadcast::error::RecvError> {
    match changes {
        Some(changes) => changes.recv().await,
        None => std::future::pending().await,
    }
}

fn note(id: &str, became: Result<bool, Refused>) {
    match became {
        Ok(_) | Err(Refused::NotFound) => {}
        Err(refused) => tracing::warn!(id, ?refused, "a subscription could not be looked at"),
    }
}
