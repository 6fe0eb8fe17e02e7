//! Reading: from a place on, through the streams a stream was forked from, and waiting for more.

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

/// Records looked at for one chunk, however small their messages are.
const RECORDS_MAX: usize = 16_384;

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// At the first message.
    Start,
    /// Behind the last one there is.
    Tail,
    /// At this place.
    Offset(Offset),
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The messages, in order.
    pub messages: Vec<Bytes>,
    /// The place behind them.
    pub next: Offset,
    /// Whether nothing followed when it was read.
    pub up_to_date: bool,
    /// Whether nothing ever follows.
    pub closed: bool,
}

/// What a reader who waits is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// A message.
    Message,
    /// A record, even one that becomes no message.
    Movement,
}

/// Renders a record of a journal as messages, or as none.
pub type Render = Arc<dyn Fn(&Entry) -> Vec<Bytes> + Send + Sync>;

/// How records become messages.
pub(super) enum Content {
    Messages,
    /// A view of a journal.
    Journal(Render),
}

impl Content {
    fn messages(&self, entry: Entry) -> Vec<Bytes> {
        match self {
            Self::Journal(render) => render(&entry),
            Self::Messages => match entry.record.body {
                Body::Data(data) => vec![data.bytes],
                _ => Vec::new(),
            },
        }
    }
}

/// A place in a stream that moves on as it is read. It stays with the stream it was opened on, also if that is deleted
/// and another takes its path.
pub struct Reader {
    pub(super) streams: Streams,
    pub(super) info: StreamInfo,
    pub(super) chain: Chain,
    pub(super) content: Content,
    pub(super) next: RecordNumber,
    /// From the first wait on.
    pub(super) watch: Option<Watch>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader({} at {})", self.info.number, self.next)
    }
}

impl Streams {
    /// Opens a stream for reading, which prolongs its life.
    pub async fn read(&self, path: &StreamPath, from: ReadFrom) -> Result<Reader, StreamError> {
        let found = self.find(path).await?;
        let chain = self.chain(&found).await?;
        let next = match from {
            ReadFrom::Start => RecordNumber(0),
            ReadFrom::Tail => found.head.next,
            ReadFrom::Offset(offset) => chain.place(offset, found.head.next)?,
        };
        self.touch(&found);
        Ok(Reader {
            streams: self.clone(),
            info: found.info(),
            chain,
            content: Content::Messages,
            next,
            watch: None,
        })
    }

    /// Records `from..`, of one stream of the chain and of one append as far as it is in there.
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
                let (Body::Data(data), true) =
                    (entry.record.body, end.is_none_or(|end| entry.number < end))
                else {
                    return Ok(messages);
                };
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

/// What is left of what one chunk may hold.
struct Budget {
    bytes: usize,
    /// Looked at, whatever becomes of them.
    records: usize,
}

impl Reader {
    /// What is read.
    #[must_use]
    pub fn info(&self) -> &StreamInfo {
        &self.info
    }

    /// Where it stands.
    #[must_use]
    pub fn offset(&self) -> Offset {
        self.chain.offset(self.next)
    }

    /// About so many bytes of messages from here on; nothing if there is no more yet.
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

    /// A stream that is deleted while it has forks is closed too, but that is not its end.
    async fn check_kept(&self) -> Result<(), StreamError> {
        if matches!(self.content, Content::Journal(_)) {
            return Ok(());
        }
        match self.streams.row_of(self.info.number).await? {
            Some(row) if !row.deleted => Ok(()),
            Some(_) => Err(StreamError::Gone),
            None => Err(StreamError::Missing),
        }
    }

    /// Reads on in one stream of the chain. If it is the last one, gives its end and whether it is closed.
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

    /// The same, and if there is no more yet, waits for it, for the close, or so long.
    pub async fn next_within(
        &mut self,
        bytes: usize,
        patience: Duration,
    ) -> Result<Chunk, StreamError> {
        self.next_until(Until::Message, bytes, patience).await
    }

    /// The same, but a record that becomes no message ends the wait too.
    pub async fn next_move_within(
        &mut self,
        bytes: usize,
        patience: Duration,
    ) -> Result<Chunk, StreamError> {
        self.next_until(Until::Movement, bytes, patience).await
    }

    async fn next_until(
        &mut self,
        until: Until,
        bytes: usize,
        patience: Duration,
    ) -> Result<Chunk, StreamError> {
        let before = self.next;
        let parts = self.streams.parts.clone();
        let mut late = parts.node.runtime.sleep(patience);
        loop {
            // Registered before reading, so that what lands after the read wakes it.
            let stream = self.info.number;
            let watch = self
                .watch
                .get_or_insert_with(|| Watch::new(parts.watchers.clone(), stream, false));
            let notify = watch.notify();
            let mut notified = std::pin::pin!(notify.notified());
            notified.as_mut().enable();
            let chunk = self.next_chunk(bytes).await?;
            let moved = until == Until::Movement && self.next > before;
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
