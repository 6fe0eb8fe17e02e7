//! Rows of user streams: their properties, and the state of their producers.

use std::time::Duration;

use everstep_model::{RecordNumber, StreamNumber, Timestamp};

/// The properties of a user stream. It changes as a whole, under [`crate::Guard::RowIs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// The stream; 0 for the one that a commit creates.
    pub stream: StreamNumber,
    /// The content type of its messages.
    pub content_type: String,
    /// How long it lives after its last use.
    pub ttl: Option<Duration>,
    /// When it expires, regardless of its use.
    pub expires_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The last use that was recorded.
    pub touched_at: Timestamp,
    /// When the timer fires that checks its expiry.
    pub looked_at: Option<Timestamp>,
    /// The producer that closed it.
    pub closed_by: Option<ProducerMark>,
    /// The last `Stream-Seq`.
    pub last_seq: Option<String>,
    /// Where it was forked from.
    pub forked_from: Option<ForkPoint>,
    /// The number of forks that read it.
    pub forks: u64,
    /// Whether it was deleted and is kept only for its forks.
    pub deleted: bool,
}

/// Where a fork begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// The source of the fork.
    pub source: StreamNumber,
    /// The path of that stream.
    pub path: String,
    /// The first record that the fork does not share.
    pub at: RecordNumber,
    /// The requested position.
    pub asked: RecordNumber,
    /// The distance from that position, in messages or in bytes of one message.
    pub sub_offset: u64,
}

/// One append of a producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerMark {
    /// The producer.
    pub id: String,
    /// Its epoch.
    pub epoch: u64,
    /// The number that the producer gave to the append.
    pub seq: u64,
}

/// The state of a producer of a user stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerRow {
    /// The stream.
    pub stream: StreamNumber,
    /// The producer.
    pub id: String,
    /// Its latest epoch.
    pub epoch: u64,
    /// Its last append in that epoch.
    pub seq: u64,
    /// Where that append ended. The store fills it in, because only the commit numbers records.
    pub end: RecordNumber,
}
