//! Marks the journals that have new records for a feed, in the commits that write these records.
//! The task in `streams/feeds.rs` copies the records and removes the marks.

use std::sync::Arc;

use everstep_model::{Body, RecordFeed, StreamName};
use everstep_store::{
    Commit, CommitTime, KeyPart, KeyTooLong, Row, SharedKey, SharedKind, SharedRow,
};
use tokio::sync::Notify;

use crate::node::Node;

/// The part of keys that contains marks.
const MARK: &str = "mark";
/// The part of keys that contains the positions of feeds in journals.
const POSITION: &str = "position";

pub(crate) struct FeedMarks {
    node: Arc<Node>,
    /// Notified when a marked commit is durable.
    pub(crate) marked: Notify,
}

impl FeedMarks {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self {
            node,
            marked: Notify::new(),
        }
    }

    /// Marks the journals of commits that have records for a feed. Returns whether there are any.
    pub(super) fn mark(&self, commits: &mut [Commit]) -> bool {
        let mut is_marked = false;
        for &feed in &self.node.settings.feeds {
            for commit in commits
                .iter_mut()
                .filter(|commit| has_records(commit, feed))
            {
                let Some(Ok(key)) = journal_of(commit).map(|of| mark_key(feed, of)) else {
                    continue;
                };
                // Each mark is unique, so that one is not removed in place of a later one.
                let value = self.node.runtime.random().to_be_bytes().to_vec();
                commit.rows_mut().put.push(Row::Shared(SharedRow {
                    key,
                    value,
                    committed_at: CommitTime::Absent,
                }));
                is_marked = true;
            }
        }
        is_marked
    }
}

/// Returns whether a commit writes records of a journal for a feed.
fn has_records(commit: &Commit, feed: RecordFeed) -> bool {
    let of_journal = |body: &Body| !matches!(body, Body::Data(_));
    let mut records = commit.records().iter();
    records.any(|record| of_journal(&record.body) && feed.selects(&record.body))
}

/// Returns the journal of a commit as a part of a key: its name if the commit creates it.
fn journal_of(commit: &Commit) -> Option<KeyPart> {
    match commit.created() {
        Some(name) => Some(name.as_str().into()),
        None => commit.stream().map(|stream| stream.0.into()),
    }
}

/// Returns the start of the keys of all marks of a feed.
pub(crate) fn marks_of(feed: RecordFeed) -> Vec<KeyPart> {
    vec![feed.as_str().into(), MARK.into()]
}

/// Returns the key of the mark of a journal.
pub(crate) fn mark_key(feed: RecordFeed, journal: KeyPart) -> Result<SharedKey, KeyTooLong> {
    let parts = marks_of(feed).into_iter().chain([journal]);
    SharedKey::new(SharedKind::Feed, parts)
}

/// Returns the key of the row with the number of records of a journal that a feed has copied.
pub(crate) fn position_key(feed: RecordFeed, name: &StreamName) -> Result<SharedKey, KeyTooLong> {
    let parts = [feed.as_str().into(), POSITION.into(), name.as_str().into()];
    SharedKey::new(SharedKind::Feed, parts)
}

/// Returns the row with the number of records of a journal that a feed has copied.
pub(crate) fn position_row(key: SharedKey, copied: u64) -> Row {
    Row::Shared(SharedRow {
        key,
        value: copied.to_be_bytes().to_vec(),
        committed_at: CommitTime::Absent,
    })
}
