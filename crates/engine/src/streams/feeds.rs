//! Feeds: streams that receive the records of all runs. A commit marks its journal
//! (`commit/feed_marks.rs`); the task here copies the marked journals' new records, each exactly
//! once and in the order of its journal, because the copy and its position are one commit.

use std::collections::BTreeMap;

use bytes::Bytes;
use everstep_model::record::Data;
use everstep_model::{
    Entry, Generation, Name, Payload, Record, RecordFeed, RecordNumber, RecordRange, RunId,
    StreamName, StreamNumber, entry_to_exact_json,
};
use everstep_store::{
    CreateCommit, DeliverCommit, Guard, Head, KeyPart, Outcome, ReadRequest, Refusal, Row, RowKey,
    RowRange, SharedKind, SharedRow, StoreError, StreamRef,
};
use futures_util::future::select;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::Chain;
use super::content_type::ContentType;
use super::error::StreamError;
use super::found::StreamInfo;
use super::handle::Streams;
use super::path::{InvalidPath, StreamPath};
use super::read::{Content, ReadFrom, Reader, Render};
use crate::commit::{marks_of, position_key, position_row};
use crate::error::Unavailable;
use crate::observers::Emission;

/// The paths of feeds begin with this.
pub const FEEDS: &str = "__ds/feeds/";

/// The number of journals that one commit copies from.
const JOURNALS: usize = 64;
/// The approximate number of bytes that one commit copies from each journal.
const BYTES: usize = 64 * 1024;
/// The number of records that one commit copies from each journal.
const RECORDS: usize = 1_000;
/// After this many records, old ones are removed from a feed.
const TRIM_STEP: u64 = 1_000;

/// A record in a feed.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "plain data")]
pub struct FeedRecord {
    pub run: RunId,
    pub generation: Generation,
    /// The number of the record in its journal.
    pub number: RecordNumber,
    /// The record as JSON. A server leaves out what its full view does not show.
    pub record: Box<RawValue>,
}

impl FeedRecord {
    /// Returns what the record emits. `None` if it is of another kind.
    #[must_use]
    pub fn emission(&self) -> Option<Emission> {
        let record: EmittedRecord = serde_json::from_str(self.record.get()).ok()?;
        (record.kind == "workflow:emitted").then_some(Emission {
            run: self.run.clone(),
            topic: record.value.topic,
            payload: record.value.payload,
        })
    }
}

#[derive(Deserialize)]
struct EmittedRecord {
    #[serde(rename = "type")]
    kind: String,
    value: EmittedValue,
}

#[derive(Deserialize)]
struct EmittedValue {
    topic: Name,
    payload: Payload,
}

/// A journal with a mark, and what is copied from it.
struct Marked {
    name: StreamName,
    marks: Vec<SharedRow>,
    head: Head,
}

impl Streams {
    /// Returns the path of a feed.
    pub fn feed_path(feed: RecordFeed) -> Result<StreamPath, InvalidPath> {
        StreamPath::internal(&format!("{FEEDS}{feed}"))
    }

    /// Opens a feed for reading. It exists if an engine of the store has the feed.
    pub async fn read_feed(
        &self,
        feed: RecordFeed,
        from: ReadFrom,
        render: Render,
    ) -> Result<Reader, StreamError> {
        let head = self.feed_head(feed).await?.ok_or(StreamError::Missing)?;
        let info = feed_info(&head);
        Reader::open(
            self,
            info,
            Chain::single(&head),
            Content::Feed(render),
            from,
        )
    }

    /// Returns the properties of a feed.
    pub async fn feed_info(&self, feed: RecordFeed) -> Result<StreamInfo, StreamError> {
        let head = self.feed_head(feed).await?.ok_or(StreamError::Missing)?;
        Ok(feed_info(&head))
    }

    async fn feed_head(&self, feed: RecordFeed) -> Result<Option<Head>, StreamError> {
        let path = Self::feed_path(feed)?;
        let name = StreamRef::Name(path.name());
        let head = self.parts.node.store.head(name).await?;
        if let Some(head) = &head {
            self.memory.add_feed(head.number, &path);
        }
        Ok(head)
    }

    /// Copies records into the feeds of this engine until it shuts down.
    pub(crate) async fn keep_feeding(self) {
        let node = &self.parts.node;
        while !node.is_closing() {
            let mut marked = std::pin::pin!(self.parts.committer.feeds.marked.notified());
            marked.as_mut().enable();
            for &feed in &node.settings.feeds {
                if let Err(error) = self.copy_all(feed).await {
                    tracing::warn!(%error, %feed, "cannot copy records into a feed");
                }
            }
            let late = std::pin::pin!(node.rest(node.settings.sweep_interval));
            select(marked, late).await;
        }
    }

    async fn copy_all(&self, feed: RecordFeed) -> Result<(), StreamError> {
        while !self.parts.node.is_closing() && self.copy_some(feed).await? {}
        Ok(())
    }

    /// Copies from some of the marked journals. Returns whether there may be more.
    async fn copy_some(&self, feed: RecordFeed) -> Result<bool, StreamError> {
        let Some(target) = self.feed_head(feed).await? else {
            return Ok(false);
        };
        let range = RowRange {
            kind: SharedKind::Feed,
            prefix: marks_of(feed),
            after: None,
            limit: JOURNALS,
            reverse: false,
        };
        let marks = self.parts.node.store.rows(range).await?;
        if marks.is_empty() {
            return Ok(false);
        }
        let mut commit = DeliverCommit::new(target.number, self.now());
        for marked in self.marked(marks, &mut commit).await? {
            self.copy(feed, &marked, &mut commit).await?;
        }
        commit.guards.push(Guard::EndsAt(target.next));
        commit
            .drop
            .extend(self.outdated(&target, commit.records.len()));
        let has_grown = !commit.records.is_empty();
        match self.parts.committer.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } if has_grown => {
                self.parts.post_commit.stream_changed(target.number, false);
                self.memory.changed(&Self::feed_path(feed)?);
            }
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {}
            // Another node has copied concurrently: read again.
            Outcome::Refused(
                Refusal::EndsElsewhere(_)
                | Refusal::RowAbsent
                | Refusal::RowPresent(_)
                | Refusal::RowChanged
                | Refusal::NoStream,
            ) => {}
            Outcome::Refused(refusal) => return Err(unexpected(&refusal).into()),
        }
        Ok(true)
    }

    /// Creates the feeds of this engine that do not exist.
    pub(crate) async fn create_feeds(&self) -> Result<(), Unavailable> {
        for &feed in &self.parts.node.settings.feeds {
            let path = format!("{FEEDS}{feed}");
            let commit = CreateCommit::new(StreamName::of_user(&path), self.now());
            match self.parts.committer.commit(commit).await? {
                Outcome::Committed { .. } | Outcome::Duplicate { .. } => {}
                Outcome::Refused(Refusal::Exists(_)) => {}
                Outcome::Refused(refusal) => return Err(unexpected(&refusal).into()),
            }
        }
        Ok(())
    }

    /// Returns the journals of marks. A journal has two marks if it is new. Marks of journals that
    /// were deleted are removed.
    async fn marked(
        &self,
        marks: Vec<SharedRow>,
        commit: &mut DeliverCommit,
    ) -> Result<Vec<Marked>, StoreError> {
        let mut journals: BTreeMap<u64, Marked> = BTreeMap::new();
        for mark in marks {
            let stream = match mark.key.parts().last() {
                Some(KeyPart::Number(number)) => StreamRef::Number(StreamNumber(*number)),
                Some(KeyPart::Text(name)) => StreamRef::Name(StreamName::from_stored(name)),
                None => StreamRef::Number(StreamNumber(u64::MAX)),
            };
            let Some(head) = self.parts.node.store.head(stream).await? else {
                commit.rows.delete_exact.push(mark);
                continue;
            };
            let marked = journals.entry(head.number.0).or_insert_with(|| Marked {
                name: head.name.clone(),
                marks: Vec::new(),
                head,
            });
            marked.marks.push(mark);
        }
        Ok(journals.into_values().collect())
    }

    /// Adds the new records of a journal to a commit.
    async fn copy(
        &self,
        feed: RecordFeed,
        journal: &Marked,
        commit: &mut DeliverCommit,
    ) -> Result<(), StreamError> {
        let key = position_key(feed, &journal.name).map_err(too_long)?;
        let position = RowKey::Shared(key.clone());
        let known = self.parts.node.store.row(position.clone()).await?;
        let from = known.as_ref().map_or(RecordNumber(0), copied);
        let request = ReadRequest {
            stream: journal.head.number,
            from,
            limit: RECORDS,
            bytes: BYTES,
        };
        let Some(page) = self.parts.node.store.read(request).await? else {
            // Deleted since. The next round removes the marks.
            return Ok(());
        };
        let next = page
            .entries
            .last()
            .map_or(page.end, |last| last.number.plus(1));
        if next >= page.end {
            commit
                .rows
                .delete_exact
                .extend(journal.marks.iter().cloned());
        }
        if next == from {
            return Ok(());
        }
        // Another node that copies the same records changes the position, or removes the mark.
        let marks = journal
            .marks
            .iter()
            .map(|mark| RowKey::Shared(mark.key.clone()));
        commit.guards.extend(marks.map(Guard::RowPresent));
        commit.guards.push(match known {
            Some(row) => Guard::RowIs(row),
            None => Guard::RowAbsent(position),
        });
        commit.rows.put.push(position_row(key, next.0));
        if let Some((run, generation)) = journal.name.run() {
            let selected = page.entries.iter();
            let selected = selected.filter(|entry| feed.selects(&entry.record.body));
            for entry in selected {
                let bytes = message(&run, generation, entry)?;
                commit.records.push(Record {
                    time: commit.now,
                    body: Data { bytes, ends: true }.into(),
                });
            }
        }
        Ok(())
    }

    /// Returns the records that a feed no longer keeps when it has this many more.
    fn outdated(&self, feed: &Head, more: usize) -> Option<RecordRange> {
        let (before, after) = (feed.next.0, feed.next.0 + more as u64);
        let is_due = before / TRIM_STEP != after / TRIM_STEP;
        let kept = self.parts.node.settings.feed_records_max;
        let last = after.checked_sub(kept)?.checked_sub(1)?;
        is_due.then_some(RecordRange {
            first: RecordNumber(0),
            last: RecordNumber(last),
        })
    }
}

fn feed_info(head: &Head) -> StreamInfo {
    StreamInfo::of(head, ContentType::new("application/json"))
}

/// Returns the number of records that a position says were copied.
fn copied(row: &Row) -> RecordNumber {
    let value = match row {
        Row::Shared(row) => row.value.as_slice().try_into().ok(),
        _ => None,
    };
    RecordNumber(value.map_or(0, u64::from_be_bytes))
}

fn message(run: &RunId, generation: Generation, entry: &Entry) -> Result<Bytes, StoreError> {
    let json = entry_to_exact_json(entry).and_then(RawValue::from_string);
    let message = json.and_then(|record| {
        serde_json::to_vec(&FeedRecord {
            run: run.clone(),
            generation,
            number: entry.number,
            record,
        })
    });
    let corrupt = |error: serde_json::Error| StoreError::corrupt(run.as_str(), error.to_string());
    message.map(Bytes::from).map_err(corrupt)
}

fn unexpected(refusal: &Refusal) -> StoreError {
    let detail = refusal.to_string();
    StoreError::Unavailable { detail }
}

fn too_long(error: everstep_store::KeyTooLong) -> StreamError {
    StoreError::corrupt("a feed", error.to_string()).into()
}
