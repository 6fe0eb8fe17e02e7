//! The records of a run as they come, from its journal as a stream: read to its end, then by long-polls.

use std::collections::VecDeque;

use everstep_engine::EngineError;
use everstep_model::{Entry, RecordNumber, RunId};
use everstep_protocol::client::Call;
use everstep_protocol::worker::WireEntry;

use super::HttpRequests;
use super::error::of_call;

/// Where to go on, in an answer.
const NEXT_OFFSET: &str = "stream-next-offset";
/// Whether the stream is closed and this is its end.
const CLOSED: &str = "stream-closed";
/// Whether the answer goes to the stream's end.
const UP_TO_DATE: &str = "stream-up-to-date";

/// The records of a run, from a server.
pub(crate) struct Tail {
    requests: HttpRequests,
    run: RunId,
    /// The address of the journal.
    path: String,
    offset: String,
    live: bool,
    from: RecordNumber,
    buffered: VecDeque<Entry>,
    closed: bool,
}

impl Tail {
    pub(super) fn new(requests: HttpRequests, run: RunId, path: &str, from: RecordNumber) -> Self {
        Self {
            requests,
            run,
            path: path.trim_start_matches('/').to_owned(),
            offset: "-1".to_owned(),
            live: false,
            from,
            buffered: VecDeque::new(),
            closed: false,
        }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Entry>, EngineError> {
        loop {
            while let Some(entry) = self.buffered.pop_front() {
                if entry.number >= self.from {
                    return Ok(Some(entry));
                }
            }
            if self.closed {
                return Ok(None);
            }
            self.read_on().await?;
        }
    }

    async fn read_on(&mut self) -> Result<(), EngineError> {
        let live = if self.live { "&live=long-poll" } else { "" };
        let path = format!("{}?view=full&offset={}{live}", self.path, self.offset);
        let answer = self.requests.held(Call::get(path)).await?;
        if !answer.body.is_empty() {
            let entries: Vec<WireEntry> = answer.json().map_err(of_call)?;
            self.buffered
                .extend(entries.into_iter().map(|entry| entry.0));
        }
        let next = answer.header(NEXT_OFFSET);
        let next = next.ok_or_else(|| EngineError::Journal {
            run: self.run.clone(),
            detail: "the server does not say where it goes on".to_owned(),
        })?;
        next.clone_into(&mut self.offset);
        self.live = self.live || answer.header(UP_TO_DATE) == Some("true");
        self.closed = answer.header(CLOSED) == Some("true");
        Ok(())
    }
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tail({} at {})", self.run, self.offset)
    }
}
