//! A tail of the records of a run on a server: reads to the end of the journal, then long-polls.

use std::collections::VecDeque;

use everstep_model::{Entry, RecordNumber, RunId};
use everstep_protocol::client::Call;

use super::{HttpPort, at, millis, views};
use crate::client::{ReadError, Response, ServerError, Tail};

/// The header that marks the last records of a run that has ended.
const CLOSED: &str = "stream-closed";

pub(super) struct ServerTail {
    port: HttpPort,
    run: RunId,
    next: RecordNumber,
    buffered: VecDeque<Entry>,
    closed: bool,
}

impl ServerTail {
    pub(super) fn new(port: HttpPort, run: RunId, from: RecordNumber) -> Self {
        Self {
            port,
            run,
            next: from,
            buffered: VecDeque::new(),
            closed: false,
        }
    }

    async fn read_more(&mut self) -> Result<(), ServerError> {
        let wait = millis(self.port.wait);
        let path = format!("{}/journal?from={}&wait={wait}", at(&self.run), self.next.0);
        let answer = self.port.long_poll(Call::get(path)).await?;
        self.buffered = views::journal(&self.run, &answer.body)?.into();
        if let Some(last) = self.buffered.back() {
            self.next = last.number.plus(1);
        }
        self.closed = answer.header(CLOSED) == Some("true");
        Ok(())
    }
}

impl Tail for ServerTail {
    fn next(&mut self) -> Response<'_, Option<Entry>, ReadError> {
        Box::pin(async move {
            loop {
                if let Some(entry) = self.buffered.pop_front() {
                    return Ok(Some(entry));
                }
                if self.closed {
                    return Ok(None);
                }
                self.read_more().await?;
            }
        })
    }
}

impl std::fmt::Debug for ServerTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServerTail({} from {})", self.run, self.next)
    }
}
