//! Calls of webhooks that contain messages of feeds, for receivers that read no streams themselves.

use std::collections::BTreeMap;

use everstep_engine::streams::{ReadFrom, StreamError};
use everstep_model::{Offset, RecordFeed};
use serde_json::Value;

use super::register::{Subscriptions, feed_of};
use super::state::{Ack, START, Subscription, Tails};

/// The approximate number of bytes of the messages of one stream in a call.
const BYTES: usize = 128 * 1024;

/// The messages in a call, by the path of their feed.
#[derive(Default)]
pub(super) struct Messages {
    by_path: BTreeMap<String, (Vec<Value>, Offset)>,
}

impl Messages {
    /// Adds the messages to the descriptions of their streams.
    pub(super) fn add_to(&self, streams: &mut [Value]) {
        for stream in streams {
            let path = stream.get("path").and_then(Value::as_str);
            let found = path.and_then(|path| self.by_path.get(path));
            if let (Some((messages, end)), Value::Object(fields)) = (found.cloned(), stream) {
                fields.insert("messages".to_owned(), messages.into());
                fields.insert("messages_end".to_owned(), end.to_string().into());
            }
        }
    }

    /// Returns what a successful call acknowledges.
    pub(super) fn acks(&self) -> Vec<Ack> {
        let acks = self.by_path.iter().map(|(path, (_, end))| Ack {
            path: path.clone(),
            offset: *end,
        });
        acks.collect()
    }
}

impl Subscriptions {
    /// Reads the unacknowledged messages of the feeds of a subscription.
    pub(super) async fn messages(
        &self,
        subscription: &Subscription,
        tails: &Tails,
    ) -> Result<Messages, StreamError> {
        let mut messages = Messages::default();
        for (path, link) in &subscription.links {
            if !link.is_pending(tails.get(path)) {
                continue;
            }
            if let Some(feed) = feed_of(path) {
                let read = self.read_messages(feed, link.acked).await?;
                messages.by_path.insert(path.clone(), read);
            }
        }
        Ok(messages)
    }

    async fn read_messages(
        &self,
        feed: RecordFeed,
        from: Offset,
    ) -> Result<(Vec<Value>, Offset), StreamError> {
        let from = match from {
            START => ReadFrom::Start,
            acked => ReadFrom::Offset(acked),
        };
        let reader = self.streams.read_feed(feed, from, self.render_feed.clone());
        let chunk = reader.await?.next_chunk(BYTES).await?;
        let parsed = chunk
            .messages
            .iter()
            .map(|message| serde_json::from_slice(message));
        let parsed: Vec<Value> = parsed.filter_map(Result::ok).collect();
        Ok((parsed, chunk.next))
    }
}
