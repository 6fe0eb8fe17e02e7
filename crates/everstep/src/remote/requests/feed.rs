//! A reader of a feed on a server: reads to its end, then long-polls.

use everstep_model::RecordFeed;
use everstep_protocol::client::Call;

use super::HttpPort;
use crate::client::{FeedPage, FeedSource, ReadError, Response, ServerError};

/// The header with the position after the messages of a response.
const NEXT: &str = "stream-next-offset";
/// The status of a long-poll without messages.
const NO_CONTENT: u16 = 204;

#[derive(Debug)]
pub(super) struct ServerFeed {
    port: HttpPort,
    feed: RecordFeed,
    position: String,
}

impl ServerFeed {
    pub(super) fn new(port: HttpPort, feed: RecordFeed, position: Option<String>) -> Self {
        Self {
            port,
            feed,
            position: position.unwrap_or_else(|| "-1".to_owned()),
        }
    }

    /// Checks that the feed exists and has the position.
    pub(super) async fn check(&self) -> Result<(), ServerError> {
        let call = Call::get(self.path(""));
        self.port.send(call).await.map(drop)
    }

    fn path(&self, live: &str) -> String {
        let (feed, position) = (self.feed, &self.position);
        format!("v1/stream/__ds/feeds/{feed}?offset={position}{live}")
    }
}

impl FeedSource for ServerFeed {
    fn next(&mut self) -> Response<'_, FeedPage, ReadError> {
        Box::pin(async move {
            let call = Call::get(self.path("&live=long-poll"));
            let answer = self.port.long_poll(call).await?;
            if let Some(next) = answer.header(NEXT) {
                self.position = next.to_owned();
            }
            let records = match answer.status.as_u16() {
                NO_CONTENT => Vec::new(),
                _ => answer.json().map_err(super::of_call)?,
            };
            Ok((records, self.position.clone()))
        })
    }
}
