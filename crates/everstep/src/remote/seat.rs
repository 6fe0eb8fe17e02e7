//! The seat of an executor on a worker: appends are sent in batches, messages arrive by claims.

use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_engine::{Append, Message, Runtime, Seat, Settings};
use everstep_model::{Entry, RecordNumber};
use everstep_protocol::worker::{ReadAnswer, ReadRequest};
use everstep_store::{BoxFuture, StoreError};

use super::convert;
use super::inbox::Inbox;
use super::session::Session;

pub(super) struct RemoteSeat {
    pub(super) session: Arc<Session>,
    pub(super) token: Arc<str>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) runtime: Arc<dyn Runtime>,
    /// The number of the last append.
    pub(super) seq: u64,
}

impl Seat for RemoteSeat {
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Message> {
        self.inbox.poll(context)
    }

    fn append(&mut self, append: Append) {
        self.seq += 1;
        let append = convert::append(&self.token, self.seq, append);
        self.session.outgoing.append(append, &self.inbox);
    }

    fn read(&self, from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>> {
        let session = self.session.clone();
        let request = ReadRequest {
            token: self.token.to_string(),
            from,
        };
        Box::pin(async move {
            let answer: ReadAnswer = session.call("read", &request).await.map_err(|error| {
                let detail = error.to_string();
                StoreError::Unavailable { detail }
            })?;
            session.clock.sync(answer.now);
            Ok(convert::entries(answer.records))
        })
    }

    fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.runtime
    }

    fn settings(&self) -> &Settings {
        &self.session.settings
    }
}

impl Drop for RemoteSeat {
    /// Releases the run, however its executor ended.
    fn drop(&mut self) {
        self.session.release(&self.token);
    }
}
