//! The records of a run as they come, from a server: read to the end of the journal, then asked for again and again.

use std::collections::VecDeque;

use everstep_model::{Entry, RecordNumber, RunId};
use everstep_protocol::client::Call;
use everstep_store::BoxFuture;

use super::{HttpRequests, at, views};
use crate::client::{ReadError, ServerError, Tail};

/// Says that the run is over and these are its last records.
const CLOSED: &str = "stream-closed";

/// The records of a run, from a server.
pub(super) struct ServerTail {
    requests: HttpRequests,
    run: RunId,
    next: RecordNumber,
    buffered: VecDeque<Entry>,
    closed: bool,
}

impl ServerTail {
    pub(super) fn new(requests: HttpRequests, run: RunId, from: RecordNumber) -> Self {
        Self {
            requests,
            run,
            next: from,
            buffered: VecDeque::new(),
            closed: false,
        }
    }

    async fn read_on(&mut self) -> Result<(), ServerError> {
        let wait = self.requests.wait_text();
        let path = format!("{}/journal?from={}&wait={wait}", at(&self.run), self.next.0);
        let answer = self.requests.held(Call::get(path)).await?;
        self.buffered = views::journal(&self.run, &answer.body)?.into();
        if let Some(last) = self.buffered.back() {
            self.next = last.number.plus(1);
        }
        self.closed = answer.header(CLOSED) == Some("true");
        Ok(())
    }
}

impl Tail for ServerTail {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Entry>, ReadError>> {
        Box::pin(async move {
            loop {
                if let Some(entry) = self.buffered.pop_front() {
                    return Ok(Some(entry));
                }
                if self.closed {
                    return Ok(None);
                }
                self.read_on().await?;
            }
        })
    }
}

impl std::fmt::Debug for ServerTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServerTail({} from {})", self.run, self.next)
    }
}
