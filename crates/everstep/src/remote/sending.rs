//! A task that sends appends of executors, many in one request.
//!
//! A request without a response is sent again unchanged: the server knows each append by its
//! number, so that it takes effect once.

use std::sync::Arc;

use everstep_engine::Message;
use everstep_protocol::client::CallError;
use everstep_protocol::worker::{Acknowledged, AppendAnswer, ReleaseRequest};
use serde::Serialize;
use serde_json::value::RawValue;

use super::convert;
use super::outgoing::Batch;
use super::session::Session;

/// [`everstep_protocol::worker::AppendRequest`] whose appends are encoded already.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    appends: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    released: &'a [String],
}

/// Sends batches until the session is over.
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

async fn send(session: &Arc<Session>, batch: Batch) {
    let Batch { appends, released } = batch;
    if appends.is_empty() {
        let request = ReleaseRequest { tokens: released };
        if let Ok(released) = session
            .call_or_end::<Acknowledged>("release", &request)
            .await
        {
            session.clock.sync(released.now);
        }
        return;
    }
    let request = Request {
        appends: appends.iter().map(|sent| &*sent.json).collect(),
        released: &released,
    };
    let answer: Result<AppendAnswer, CallError> = session.call_or_end("append", &request).await;
    let answers = match answer {
        Ok(answer) => {
            session.clock.sync(answer.now);
            answer.answers
        }
        Err(error) => {
            tracing::warn!(%error, runs = appends.len(), "append rejected, releasing its runs");
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
