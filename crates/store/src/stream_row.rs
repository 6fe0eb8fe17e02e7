//! Rows of user streams: their properties, and the state of their producers.

#![allow(missing_docs, reason = "plain data")]

use std::time::Duration;

use everstep_model::{RecordNumber, StreamNumber, Timestamp};

/// The properties of a user stream. It changes as a whole, under [`crate::Guard::RowIs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// 0 for the stream that the commit creates.
    pub stream: StreamNumber,
    pub content_type: String,
    /// The time after the last use at which the stream expires.
    pub ttl: Option<Duration>,
    /// When the stream expires, regardless of its use.
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The last recorded use.
    pub touched_at: Timestamp,
    /// When the timer fires that checks the expiry.
    pub looked_at: Option<Timestamp>,
    pub closed_by: Option<ProducerMark>,
    /// The last `Stream-Seq`.
    pub last_seq: Option<String>,
    pub forked_from: Option<ForkPoint>,
    /// The number of forks that read this stream.
    pub forks: u64,
    /// Whether the stream was deleted and is kept only for its forks.
    pub deleted: bool,
}

/// Where a fork begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    pub source: StreamNumber,
    /// The path of the source.
    pub path: String,
    /// The first record that the fork does not share.
    pub at: RecordNumber,
    /// The requested position.
    pub asked: RecordNumber,
    /// The distance from that position, in messages or in bytes of one message.
    pub sub_offset: u64,
}

/// One append of a producer, which chooses all three values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerMark {
    pub id: String,
    /// Rises with each restart of the producer.
    pub epoch: u64,
    /// Counts the appends of the epoch, from 0.
    pub seq: u64,
}

/// The state of a producer of a user stream: its last append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerRow {
    pub stream: StreamNumber,
    pub id: String,
    pub epoch: u64,
    pub seq: u64,
    /// The end of the stream after that append. The store fills it in, because only the commit
    /// numbers records.
    pub end: RecordNumber,
}
