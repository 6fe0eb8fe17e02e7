//! The background task of subscriptions: reacts to appends and expired leases, and resumes after a
//! restart.

use std::sync::{Arc, Weak};
use std::time::Duration;

use everstep_engine::streams::StreamPath;
use everstep_model::Timestamp;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::error::SubscriptionError;
use super::register::Subscriptions;
use super::state::Due;
use crate::options::Options;
use crate::stream_protocol::PREFIX;

/// How often all subscriptions are checked: other nodes may have changed them, and failures are
/// retried.
const SWEEP: Duration = Duration::from_secs(60);

impl Subscriptions {
    /// Starts the task. It ends when the server is dropped.
    pub(crate) fn start(self: &Arc<Self>, options: Arc<Options>) {
        tokio::spawn(attend(Arc::downgrade(self), options));
    }

    async fn reload(self: &Arc<Self>) {
        let ids = match self.documents.ids().await {
            Ok(ids) => ids,
            Err(error) => {
                tracing::error!(%error, "cannot read the index of subscriptions");
                return;
            }
        };
        for id in ids {
            match self.documents.load(&id).await {
                Ok(Some((_, subscription))) => {
                    let is_new = !self.index.ids().contains(&id);
                    self.remember(&subscription);
                    // Documents of earlier releases contain the links of the pattern.
                    for path in subscription.links.keys() {
                        self.index.link(&id, path);
                    }
                    match is_new || self.streams.is_shared() {
                        true => self.check_all(vec![id]).await,
                        false => self.check(&id).await,
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, id, "cannot read subscription"),
            }
        }
    }

    /// Receives changes only while there are subscriptions, so that other appends cost nothing.
    async fn listen(self: &Arc<Self>, changes: &mut Option<broadcast::Receiver<StreamPath>>) {
        let new = self.new_changes().take();
        if self.index.is_empty() {
            *changes = None;
        } else if new.is_some() {
            *changes = new;
            // Find the streams that grew before.
            self.check_all(self.index.ids()).await;
        }
    }

    /// Wakes the subscribers of a stream that has grown.
    async fn on_growth(self: &Arc<Self>, path: &str) {
        for id in self.index.linked_to(path) {
            if let Err(error) = self.note_growth(&id, path).await {
                tracing::warn!(id, %error, "cannot check a linked stream");
            }
            log_error(&id, self.wake_if_pending(&id).await);
        }
    }

    /// Checks subscriptions and all streams that they are linked to.
    async fn check_all(self: &Arc<Self>, ids: Vec<String>) {
        for id in ids {
            if let Err(error) = self.check_links(&id).await {
                tracing::warn!(id, %error, "cannot check the streams of a subscription");
            }
            self.check(&id).await;
        }
    }

    /// Wakes a subscriber if a stream has grown, a retry is due, or its lease has expired.
    async fn check(self: &Arc<Self>, id: &str) {
        log_error(id, self.wake_if_pending(id).await);
        log_error(id, self.check_wake(id).await);
    }

    async fn check_wake(self: &Arc<Self>, id: &str) -> Result<bool, SubscriptionError> {
        let subscription = self.find(id).await?;
        let now = self.streams.now();
        match subscription.due_now(now) {
            Some(Due::Retry) => {
                let begun = self.change(id, |subscription| Ok(subscription.begin_retry(now)));
                let (subscription, has_begun) = begun.await?;
                if has_begun {
                    self.deliver(&subscription).await?;
                }
                Ok(has_begun)
            }
            Some(Due::Wake) => self.wake(id, subscription.generation).await,
            None => {
                self.schedule.set(id, subscription.due());
                Ok(false)
            }
        }
    }
}

async fn attend(server: Weak<Subscriptions>, options: Arc<Options>) {
    let (mut sweep_at, mut changes) = (Timestamp::default(), None);
    loop {
        let Some(subscriptions) = server.upgrade() else {
            return;
        };
        let now = subscriptions.streams.now();
        if sweep_at <= now {
            let base_url = options.public_url.as_deref().unwrap_or_default();
            let base_url = format!("{}{PREFIX}", base_url.trim_end_matches('/'));
            let subscribed = subscriptions.subscribe_failures(&options.failure_webhooks, &base_url);
            if let Err(error) = subscribed.await {
                tracing::error!(%error, "cannot subscribe the webhooks for failures");
            }
            subscriptions.reload().await;
            sweep_at = now.after(SWEEP);
        }
        subscriptions.listen(&mut changes).await;
        let schedule = subscriptions.schedule.clone();
        let due = schedule.next().map_or(sweep_at, |due| due.min(sweep_at));
        // Do not keep the server alive while waiting.
        drop(subscriptions);
        let changed = tokio::select! {
            changed = next(&mut changes) => changed.map(Some),
            () = tokio::time::sleep(now.until(due)) => Ok(None),
            () = schedule.changed.notified() => Ok(None),
        };
        let Some(subscriptions) = server.upgrade() else {
            return;
        };
        match changed {
            Ok(Some(path)) => subscriptions.on_growth(path.as_str()).await,
            Ok(None) => {}
            Err(RecvError::Lagged(_)) => subscriptions.check_all(subscriptions.index.ids()).await,
            Err(RecvError::Closed) => return,
        }
        let due = subscriptions.schedule.take_due(subscriptions.streams.now());
        for id in due {
            subscriptions.check(&id).await;
        }
    }
}

async fn next(
    changes: &mut Option<broadcast::Receiver<StreamPath>>,
) -> Result<StreamPath, RecvError> {
    match changes {
        Some(changes) => changes.recv().await,
        None => std::future::pending().await,
    }
}

fn log_error(id: &str, result: Result<bool, SubscriptionError>) {
    match result {
        Ok(_) | Err(SubscriptionError::NotFound) => {}
        Err(error) => tracing::warn!(id, %error, "cannot check subscription"),
    }
}
