//! The queue of appends to a server. Each request takes as much of it as fits.
//!
//! The task of the executor encodes its append as JSON.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::Record;
use everstep_protocol::worker::OneAppend;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::inbox::Inbox;

/// Concurrent requests.
pub(super) const SENDERS: usize = 4;
/// Appends in one request.
const APPENDS_AT_ONCE: usize = 1_000;
/// About how many bytes of appends go into one request.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// Appends and releases that wait to be sent.
#[derive(Default)]
pub(super) struct Outgoing {
    queue: Mutex<Batch>,
    pub(super) more: Notify,
}

#[derive(Default)]
pub(super) struct Batch {
    pub(super) appends: Vec<Sent>,
    pub(super) released: Vec<String>,
}

/// An append, with what is needed to deliver its response.
pub(super) struct Sent {
    pub(super) json: Box<RawValue>,
    pub(super) records: Vec<Record>,
    pub(super) inbox: Arc<Inbox>,
}

impl Outgoing {
    pub(super) fn append(&self, append: OneAppend, inbox: &Arc<Inbox>) {
        let json = match serde_json::value::to_raw_value(&append) {
            Ok(json) => json,
            Err(error) => {
                tracing::error!(%error, "cannot encode records as JSON, releasing the run");
                return inbox.lose();
            }
        };
        let records = append.records.into_iter().map(|record| record.0);
        let sent = Sent {
            json,
            records: records.collect(),
            inbox: inbox.clone(),
        };
        self.queue().appends.push(sent);
        self.more.notify_one();
    }

    pub(super) fn release(&self, token: String) {
        self.queue().released.push(token);
        self.more.notify_one();
    }

    /// Wakes the senders, so that they notice the end of the session.
    pub(super) fn wake(&self) {
        for _ in 0..SENDERS {
            self.more.notify_one();
        }
    }

    /// Takes the content of the next request and leaves the rest to the next sender.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut queue = self.queue();
        let mut bytes = 0;
        let fits = |sent: &&Sent| {
            bytes += sent.json.get().len();
            bytes < BYTES_AT_ONCE
        };
        let appends = queue.appends.iter().take(APPENDS_AT_ONCE);
        let count = appends.take_while(fits).count();
        let count = count.max(1).min(queue.appends.len());
        let rest = queue.appends.split_off(count);
        let taken = Batch {
            appends: std::mem::replace(&mut queue.appends, rest),
            released: std::mem::take(&mut queue.released),
        };
        if !queue.appends.is_empty() {
            self.more.notify_one();
        }
        let is_empty = taken.appends.is_empty() && taken.released.is_empty();
        (!is_empty).then_some(taken)
    }

    fn queue(&self) -> MutexGuard<'_, Batch> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
