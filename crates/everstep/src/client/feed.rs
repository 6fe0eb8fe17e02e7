//! Readers of feeds: the records of all runs, or of some kinds of them, from an engine or a server.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::streams::{FeedRecord, ReadFrom, Reader, Render, StreamError};
use everstep_engine::{CodedError, ReadError as ReadRejection, Unavailable};
use everstep_model::{Body, Entry, ErrorCode, RecordFeed};
use everstep_store::StoreError;

use super::Response;
use super::error::{ReadError, ServerError};

/// The position before the first record.
const START: &str = "-1";
/// The approximate number of bytes that are read at once.
const BYTES: usize = 256 * 1024;
/// How long an engine waits before it looks again whether the reader still waits.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a feed. Every record arrives once, and those of a run arrive in order.
#[derive(Debug)]
pub struct FeedReader {
    source: Box<dyn FeedSource>,
    buffered: VecDeque<FeedRecord>,
    position: String,
}

/// Records of a feed, and the position after them.
pub(crate) type FeedPage = (Vec<FeedRecord>, String);

/// The source of a [`FeedReader`].
pub(crate) trait FeedSource: std::fmt::Debug + Send {
    /// Waits for more records. May return none.
    fn next(&mut self) -> Response<'_, FeedPage, ReadError>;
}

impl FeedReader {
    pub(crate) fn new(source: impl FeedSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            buffered: VecDeque::new(),
            position: START.to_owned(),
        }
    }

    /// Begins at a position.
    pub(super) fn at(mut self, position: Option<&str>) -> Self {
        self.position = position.unwrap_or(START).to_owned();
        self
    }

    /// Waits for the next record.
    ///
    /// # Errors
    /// If the feed cannot be read.
    pub async fn next(&mut self) -> Result<FeedRecord, ReadError> {
        loop {
            if let Some(record) = self.buffered.pop_front() {
                return Ok(record);
            }
            let (records, position) = self.source.next().await?;
            self.buffered = records.into();
            self.position = position;
        }
    }

    /// Returns the position of the reader, from which another can continue. `None` while records
    /// that were read are not taken yet.
    #[must_use]
    pub fn position(&self) -> Option<&str> {
        self.buffered.is_empty().then_some(self.position.as_str())
    }
}

/// Reads a feed of the engine in this process.
pub(super) async fn of_engine(
    engine: &everstep_engine::Engine,
    feed: RecordFeed,
    from: Option<String>,
) -> Result<FeedReader, ReadError> {
    let from = match from.as_deref() {
        None | Some(START) => ReadFrom::Start,
        Some(text) => ReadFrom::Offset(text.parse().map_err(|_| invalid_position())?),
    };
    let stored: Render = Arc::new(|entry: &Entry| match &entry.record.body {
        Body::Data(data) => vec![data.bytes.clone()],
        _ => Vec::new(),
    });
    let reader = engine.streams().read_feed(feed, from, stored).await;
    Ok(FeedReader::new(reader.map_err(rejected)?))
}

impl FeedSource for Reader {
    fn next(&mut self) -> Response<'_, FeedPage, ReadError> {
        Box::pin(async move {
            let chunk = self.next_within(BYTES, PATIENCE).await.map_err(rejected)?;
            let records = chunk.messages.iter();
            let records = records.map(|message| serde_json::from_slice(message));
            let records: Result<_, _> = records.collect();
            Ok((records.map_err(damaged)?, chunk.next.to_string()))
        })
    }
}

fn invalid_position() -> ReadError {
    let message = "this is not a position of a feed".to_owned();
    let code = ErrorCode::InvalidOffset;
    ServerError { code, message }.into()
}

fn rejected(error: StreamError) -> ReadError {
    match error {
        StreamError::Unavailable(error) => ReadRejection::from(error).into(),
        error => {
            let (code, message) = (error.code(), error.to_string());
            ServerError { code, message }.into()
        }
    }
}

fn damaged(error: serde_json::Error) -> ReadError {
    ReadRejection::from(Unavailable::from(StoreError::corrupt(
        "a feed",
        error.to_string(),
    )))
    .into()
}
