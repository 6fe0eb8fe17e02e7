//! Reads streams from an offset on, through the chain of sources, and waits for more.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use everstep_model::{Body, Entry, Offset, RecordNumber, StreamNumber};
use everstep_store::ReadRequest;
use futures_util::future::{Either, select};

use super::chain::Chain;
use super::error::StreamError;
use super::found::{Found, StreamInfo};
use super::handle::Streams;
use super::path::StreamPath;
use crate::observers::Watch;

/// The maximum number of records read for one chunk, even if their messages are small.
const RECORDS_MAX: usize = 16_384;

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub enum ReadFrom {
    /// Before the first message.
    Start,
    /// After the last message.
    Tail,
    /// At this offset.
    Offset(Offset),
}

/// The result of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Chunk {
    pub messages: Vec<Bytes>,
    /// The offset after the messages.
    pub next: Offset,
    /// Whether this was the end of the stream at the time of the read.
    pub up_to_date: bool,
    /// Whether this is the end of a closed stream.
    pub closed: bool,
}

/// Renders a record of a feed as messages, or as none.
pub type Render = Arc<dyn Fn(&Entry) -> Vec<Bytes> + Send + Sync>;

/// A view of a journal: folds its records in order, and renders what follows from each.
pub trait JournalView: Send + Sync {
    /// Returns the messages of the next record.
    fn fold(&mut self, entry: &Entry) -> Vec<Bytes>;

    /// Whether messages depend on earlier records too. A reader that begins later folds those
    /// first.
    fn depends_on_earlier_records(&self) -> bool;
}

/// How records become messages.
pub(super) enum Content {
    Messages,
    Feed(Render),
    Journal(Box<dyn JournalView>),
}

impl Content {
    fn messages(&mut self, entry: Entry) -> Vec<Bytes> {
        match self {
            Self::Feed(render) => render(&entry),
            Self::Journal(view) => view.fold(&entry),
            Self::Messages => match entry.record.body {
                Body::Data(data) => vec![data.bytes],
                _ => Vec::new(),
            },
        }
    }
}

/// A position in a stream. A reader keeps reading the stream it was opened on, even if that is
/// deleted and another is created at its path.
pub struct Reader {
    streams: Streams,
    info: StreamInfo,
    chain: Chain,
    content: Content,
    next: RecordNumber,
    /// Set by the first wait.
    watch: Option<Watch>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader({} at {})", self.info.number, self.next)
    }
}

impl Streams {
    /// Opens a stream for reading. This counts as a use of the stream.
    pub async fn read(&self, path: &StreamPath, from: ReadFrom) -> Result<Reader, StreamError> {
        let found = self.find(path).await?;
        let chain = self.chain(&found).await?;
        let reader = Reader::open(self, found.info(), chain, Content::Messages, from)?;
        self.touch(&found);
        Ok(reader)
    }

    /// Returns the messages from a record on to the end of its append, as far as they are in the
    /// same stream of the chain.
    pub(super) async fn rest_of_append(
        &self,
        found: &Found,
        from: RecordNumber,
    ) -> Result<Vec<Bytes>, StreamError> {
        let chain = self.chain(found).await?;
        let Some((segment, end)) = chain.holder(from) else {
            return Ok(Vec::new());
        };
        let mut messages = Vec::new();
        let mut next = from;
        loop {
            let request = ReadRequest {
                stream: segment.stream,
                from: next,
                limit: RECORDS_MAX,
                bytes: 1,
            };
            let page = self.parts.node.store.read(request).await?;
            let page = page.ok_or(StreamError::SourceMissing)?;
            let before = messages.len();
            for entry in page.entries {
                let Body::Data(data) = entry.record.body else {
                    return Ok(messages);
                };
                if end.is_some_and(|end| entry.number >= end) {
                    return Ok(messages);
                }
                messages.push(data.bytes);
                next = entry.number.plus(1);
                if data.ends {
                    return Ok(messages);
                }
            }
            if messages.len() == before {
                return Ok(messages);
            }
        }
    }
}

/// What a chunk may still contain.
struct Budget {
    bytes: usize,
    /// Records to read, whether or not they become messages.
    records: usize,
}

impl Reader {
    pub(super) fn open(
        streams: &Streams,
        info: StreamInfo,
        chain: Chain,
        content: Content,
        from: ReadFrom,
    ) -> Result<Self, StreamError> {
        let next = match from {
            ReadFrom::Start => RecordNumber(0),
            ReadFrom::Tail => info.next.next,
            ReadFrom::Offset(offset) => chain.number(offset, info.next.next)?,
        };
        Ok(Self {
            streams: streams.clone(),
            info,
            chain,
            content,
            next,
            watch: None,
        })
    }

    /// Folds the records before the position of the reader, if its view depends on them.
    pub(super) async fn fold_earlier_records(&mut self) -> Result<(), StreamError> {
        let Content::Journal(view) = &mut self.content else {
            return Ok(());
        };
        if !view.depends_on_earlier_records() {
            return Ok(());
        }
        let next = self.next;
        let folded =
            self.streams
                .parts
                .node
                .visit_journal(self.info.number, RecordNumber(0), |entry| {
                    if entry.number >= next {
                        return ControlFlow::Break(());
                    }
                    view.fold(&entry);
                    ControlFlow::Continue(())
                });
        folded.await?;
        Ok(())
    }

    /// Returns the properties of the stream when it was opened.
    #[must_use]
    pub fn info(&self) -> &StreamInfo {
        &self.info
    }

    /// Returns the current position.
    #[must_use]
    pub fn offset(&self) -> Offset {
        self.chain.offset(self.next)
    }

    /// Reads about this many bytes of messages. Returns an empty chunk at the end of the stream.
    pub async fn next_chunk(&mut self, bytes: usize) -> Result<Chunk, StreamError> {
        let mut chunk = Chunk {
            messages: Vec::new(),
            next: self.offset(),
            up_to_date: false,
            closed: false,
        };
        let mut budget = Budget {
            bytes: bytes.max(1),
            records: RECORDS_MAX,
        };
        while budget.bytes > 0 && budget.records > 0 {
            let Some((segment, end)) = self.chain.holder(self.next) else {
                break;
            };
            let own_end = self.read_segment(segment.stream, end, &mut budget, &mut chunk);
            let Some((own_end, closed)) = own_end.await? else {
                continue;
            };
            chunk.up_to_date = self.next >= own_end;
            chunk.closed = chunk.up_to_date && closed;
            if chunk.up_to_date {
                break;
            }
        }
        chunk.next = self.offset();
        if chunk.closed {
            self.check_kept().await?;
        }
        Ok(chunk)
    }

    /// Distinguishes a closed stream from one that was deleted while it had forks, which closes it
    /// too.
    async fn check_kept(&self) -> Result<(), StreamError> {
        match self.content {
            Content::Messages => {}
            Content::Feed(_) | Content::Journal(_) => return Ok(()),
        }
        match self.streams.row_of(self.info.number).await? {
            Some(row) if !row.deleted => Ok(()),
            Some(_) => Err(StreamError::Gone),
            None => Err(StreamError::Missing),
        }
    }

    /// Reads from one stream of the chain. If it is the last one, returns its end and whether it is
    /// closed.
    async fn read_segment(
        &mut self,
        stream: StreamNumber,
        end: Option<RecordNumber>,
        budget: &mut Budget,
        chunk: &mut Chunk,
    ) -> Result<Option<(RecordNumber, bool)>, StreamError> {
        let request = ReadRequest {
            stream,
            from: self.next,
            limit: budget.records,
            bytes: budget.bytes,
        };
        let page = self.streams.parts.node.store.read(request).await?;
        let page = page.ok_or(StreamError::Missing)?;
        if page.entries.is_empty() && end.is_none() {
            self.next = self.next.max(page.end);
        }
        for entry in page.entries {
            if end.is_some_and(|end| entry.number >= end) {
                break;
            }
            self.next = entry.number.plus(1);
            budget.records -= 1;
            for message in self.content.messages(entry) {
                budget.bytes = budget.bytes.saturating_sub(message.len());
                chunk.messages.push(message);
            }
            if budget.bytes == 0 {
                break;
            }
        }
        Ok(match end {
            Some(_) => None,
            None => Some((page.end, page.closed)),
        })
    }

    /// Like [`Self::next_chunk`], but waits at the end of the stream for a message or the close, at
    /// most this long.
    pub async fn next_within(
        &mut self,
        bytes: usize,
        patience: Duration,
    ) -> Result<Chunk, StreamError> {
        self.wait_for_chunk(bytes, patience, false).await
    }

    /// Like [`Self::next_within`], but a record without a message ends the wait too.
    pub async fn next_move_within(
        &mut self,
        bytes: usize,
        patience: Duration,
    ) -> Result<Chunk, StreamError> {
        self.wait_for_chunk(bytes, patience, true).await
    }

    async fn wait_for_chunk(
        &mut self,
        bytes: usize,
        patience: Duration,
        ends_with_any_record: bool,
    ) -> Result<Chunk, StreamError> {
        let before = self.next;
        let parts = self.streams.parts.clone();
        let mut late = parts.node.runtime.sleep(patience);
        loop {
            // Registered before reading, so that no later change is missed.
            let stream = self.info.number;
            let watch = self
                .watch
                .get_or_insert_with(|| Watch::new(parts.watchers.clone(), stream, false));
            let notify = watch.notify.clone();
            let mut notified = std::pin::pin!(notify.notified());
            notified.as_mut().enable();
            let chunk = self.next_chunk(bytes).await?;
            let moved = ends_with_any_record && self.next > before;
            if !chunk.messages.is_empty() || chunk.closed || moved {
                return Ok(chunk);
            }
            if !chunk.up_to_date {
                continue;
            }
            let changed = std::pin::pin!(parts.watchers.wait(notified));
            match select(changed, late).await {
                Either::Left((changed, still)) => {
                    changed?;
                    late = still;
                }
                Either::Right(_) => return Ok(chunk),
            }
        }
    }
}
