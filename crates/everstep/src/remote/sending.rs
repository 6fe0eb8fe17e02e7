//! What executors append, on its way: each request takes along everything that has gathered, of all runs.
//!
//! An append is made into JSON where it is made, by the executor's own task. A request that got no answer is sent again as it
//! was: the server knows each append by its number, so that it takes effect once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_engine::Message;
use everstep_model::Record;
use everstep_protocol::client::CallError;
use everstep_protocol::worker::{Acknowledged, AppendAnswer, OneAppend, ReleaseRequest};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::convert;
use super::inbox::Inbox;
use super::session::Session;

/// Requests under way at once.
pub(super) const SENDERS: usize = 4;
/// Appends in one request.
const APPENDS_AT_ONCE: usize = 1_000;
/// About how many bytes of appends go into one request.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// What is to be sent.
#[derive(Default)]
pub(super) struct Outgoing {
    state: Mutex<State>,
    more: Notify,
}

#[derive(Default)]
struct State {
    appends: Vec<Sent>,
    released: Vec<String>,
}

/// An append, with what its answer needs.
struct Sent {
    json: Box<RawValue>,
    records: Vec<Record>,
    inbox: Arc<Inbox>,
}

/// [`everstep_protocol::worker::AppendRequest`] whose appends are made already.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    appends: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    released: &'a [String],
}

impl Outgoing {
    pub(super) fn append(&self, append: OneAppend, inbox: &Arc<Inbox>) {
        let json = match serde_json::value::to_raw_value(&append) {
            Ok(json) => json,
            Err(error) => {
                tracing::error!(%error, "records cannot be written as JSON; their run is given up here");
                return inbox.lose();
            }
        };
        let records = append.records.into_iter().map(|record| record.0);
        let sent = Sent {
            json,
            records: records.collect(),
            inbox: inbox.clone(),
        };
        self.state().appends.push(sent);
        self.more.notify_one();
    }

    pub(super) fn release(&self, token: String) {
        self.state().released.push(token);
        self.more.notify_one();
    }

    /// Lets senders see that the session is over.
    pub(super) fn wake(&self) {
        for _ in 0..SENDERS {
            self.more.notify_one();
        }
    }

    /// What goes into the next request; the rest is for the next sender.
    fn take(&self) -> Option<State> {
        let mut state = self.state();
        let mut bytes = 0;
        let fits = |sent: &&Sent| {
            bytes += sent.json.get().len();
            bytes < BYTES_AT_ONCE
        };
        let appends = state.appends.iter().take(APPENDS_AT_ONCE);
        let count = appends.take_while(fits).count();
        let count = count.max(1).min(state.appends.len());
        let rest = state.appends.split_off(count);
        let taken = State {
            appends: std::mem::replace(&mut state.appends, rest),
            released: std::mem::take(&mut state.released),
        };
        if !state.appends.is_empty() {
            self.more.notify_one();
        }
        let is_empty = taken.appends.is_empty() && taken.released.is_empty();
        (!is_empty).then_some(taken)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what has gathered, again and again, until the session is over.
pub(super) async fn keep_sending(session: Arc<Session>) {
    loop {
        let more = session.outgoing.more.notified();
        match session.outgoing.take() {
            Some(batch) => send(&session, batch).await,
            None if session.is_over() => return,
            None => more.await,
        }
    }
}

async fn send(session: &Arc<Session>, batch: State) {
    let State { appends, released } = batch;
    if appends.is_empty() {
        let request = ReleaseRequest { tokens: released };
        if let Ok(heard) = session.must::<Acknowledged>("release", &request).await {
            session.clock.hear(heard.now);
        }
        return;
    }
    let request = Request {
        appends: appends.iter().map(|sent| &*sent.json).collect(),
        released: &released,
    };
    let answer: Result<AppendAnswer, CallError> = session.must("append", &request).await;
    let answers = match answer {
        Ok(answer) => {
            session.clock.hear(answer.now);
            answer.answers
        }
        Err(error) => {
            tracing::warn!(%error, runs = appends.len(), "what runs appended was refused; they are given up here");
            Vec::new()
        }
    };
    let mut answers = answers.into_iter();
    for sent in appends {
        let answer = answers.next();
        let message = answer.map_or(Message::Lost, |answer| {
            convert::answer(answer, sent.records)
        });
        sent.inbox.answer(message);
    }
}
