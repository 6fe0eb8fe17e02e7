//! The main task of a session: claims runs, executes them, and releases them when the worker
//! leaves.

use std::sync::Arc;

use everstep_engine::{Activation, Message, Worker as _};
use everstep_protocol::client::Call;
use everstep_protocol::worker::{Acknowledged, Assigned, ClaimAnswer, ClaimRequest, Item};
use futures_util::future::{Either, select};

use super::backoff::Backoff;
use super::convert;
use super::inbox::Inbox;
use super::outgoing::SENDERS;
use super::seat::RemoteSeat;
use super::sending::keep_sending;
use super::session::Session;

/// Executes the runs that the server assigns until the session ends or the worker leaves.
pub(super) async fn run(session: &Arc<Session>) {
    for _ in 0..SENDERS {
        let sender = Box::pin(keep_sending(session.clone()));
        session.setup.runtime.spawn(sender);
    }
    session
        .setup
        .runtime
        .spawn(Box::pin(keep_alive(session.clone())));
    let claiming = std::pin::pin!(keep_claiming(session));
    let leaving = std::pin::pin!(leave_on_shutdown(session));
    select(claiming, leaving).await;
    session.end();
}

/// Sends a heartbeat when there was no response for half the session's time to live. A claim may
/// take longer than that, because its response is large or because it was lost.
async fn keep_alive(session: Arc<Session>) {
    let interval = session.time_to_live / 2;
    while !session.is_over() {
        let delay = interval.saturating_sub(session.clock.silent_for());
        if !delay.is_zero() {
            session.setup.runtime.sleep(delay).await;
            continue;
        }
        if let Ok(alive) = session.call_or_end::<Acknowledged>("heartbeat", &()).await {
            session.clock.sync(alive.now);
        }
    }
}

async fn keep_claiming(session: &Arc<Session>) {
    let mut request = ClaimRequest::default();
    let mut backoff = Backoff::default();
    while !session.is_over() {
        request.leaving = session.setup.is_leaving();
        let Some(answer) = claim(session, &request).await else {
            continue;
        };
        session.clock.sync(answer.now);
        for item in answer.items {
            if item.number > request.after {
                request.after = item.number;
                receive(session, item);
            }
        }
        match answer.closing {
            true => backoff.wait(&*session.setup.runtime).await,
            false => backoff.reset(),
        }
    }
}

/// Sends one claim. `None` if the worker leaves meanwhile or the session is over.
async fn claim(session: &Session, request: &ClaimRequest) -> Option<ClaimAnswer> {
    let claim = std::pin::pin!(session.call_or_end("claim", request));
    if request.leaving {
        return claim.await.ok();
    }
    let leaving = std::pin::pin!(session.setup.until_leaving());
    match select(claim, leaving).await {
        Either::Left((answer, _)) => answer.ok(),
        Either::Right(_) => None,
    }
}

fn receive(session: &Arc<Session>, item: Item) {
    if let Some(run) = item.run {
        execute(session, run);
    }
    if let Some(news) = item.news {
        let inbox = session.seats().get(news.token.as_str()).cloned();
        match inbox {
            Some(inbox) => inbox.news(news.after, convert::message(news.word)),
            // The server assumes that this worker executes the run, which is not the case.
            None => session.outgoing.release(news.token),
        }
    }
}

fn execute(session: &Arc<Session>, run: Assigned) {
    let token: Arc<str> = run.token.into();
    let inbox = Arc::<Inbox>::default();
    session.seats().insert(token.clone(), inbox.clone());
    if session.setup.is_leaving() {
        inbox.news(0, Message::Stop);
    }
    let seat = RemoteSeat {
        session: session.clone(),
        token,
        inbox,
        runtime: session.clock.clone(),
        seq: 0,
    };
    let activation = Activation {
        run: run.id,
        generation: run.generation,
        workflow: run.workflow,
        version: run.version,
        journal: convert::entries(run.journal),
        cautious: run.cautious,
        seat: Box::new(seat),
    };
    let execution = session.setup.registry.execute(activation);
    session.setup.runtime.spawn(execution);
}

/// Waits until the worker leaves. Its executors then finish their steps and release their runs, and
/// the session is closed.
async fn leave_on_shutdown(session: &Arc<Session>) {
    session.setup.until_leaving().await;
    let inboxes: Vec<_> = session.seats().values().cloned().collect();
    for inbox in inboxes {
        inbox.news(0, Message::Stop);
    }
    let runtime = &session.setup.runtime;
    let drained = std::pin::pin!(drained(session));
    select(
        drained,
        runtime.sleep(session.setup.settings.shutdown_grace),
    )
    .await;
    let call = Call::new(http::Method::DELETE, session.path.clone());
    if let Err(error) = session.setup.connection.send(call).await {
        tracing::warn!(%error, "cannot close the session; it will expire");
    }
}

/// Completes when no executor is left.
async fn drained(session: &Session) {
    loop {
        let mut changed = std::pin::pin!(session.changed.notified());
        changed.as_mut().enable();
        if session.seats().is_empty() || session.is_over() {
            return;
        }
        changed.await;
    }
}
