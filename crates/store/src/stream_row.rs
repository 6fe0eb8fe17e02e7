//! Rows of users' streams: what a stream is besides its records, and what its producers have appended.

use std::time::Duration;

use everstep_model::{RecordNumber, StreamNumber, Timestamp};

/// What a user's stream is besides its records. It changes as a whole, under [`crate::Guard::RowIs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// The stream; 0 for the one that a commit creates.
    pub stream: StreamNumber,
    /// What its messages are.
    pub content_type: String,
    /// How long it lives after it was last touched.
    pub ttl: Option<Duration>,
    /// When it ends, whoever touches it.
    pub expires_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last touched, as far as was written down.
    pub touched_at: Timestamp,
    /// When the timer fires that looks whether it has expired.
    pub looked_at: Option<Timestamp>,
    /// The producer that closed it.
    pub closed_by: Option<ProducerMark>,
    /// The last `Stream-Seq`.
    pub last_seq: Option<String>,
    /// The stream it began as.
    pub forked_from: Option<ForkPoint>,
    /// How many forks read it.
    pub forks: u64,
    /// Whether it was deleted and is kept for its forks alone.
    pub deleted: bool,
}

/// Where a fork begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// The stream it began as.
    pub source: StreamNumber,
    /// The path of that stream.
    pub path: String,
    /// The first record that the fork does not share.
    pub at: RecordNumber,
    /// The place that was asked for.
    pub asked: RecordNumber,
    /// How far behind that place: messages, or bytes of one.
    pub sub_offset: u64,
}

/// One append of a producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerMark {
    /// The producer.
    pub id: String,
    /// Its epoch.
    pub epoch: u64,
    /// Its number of the append.
    pub seq: u64,
}

/// What a producer has appended to a user's stream.
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
