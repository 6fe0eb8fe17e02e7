//! One session with a server, from registering to its end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::{Activation, Message, Settings, Worker as _};
use everstep_model::ErrorCode;
use everstep_protocol::client::{Call, CallError, Connection, segment};
use everstep_protocol::worker::{Assigned, ClaimAnswer, ClaimRequest, Item, RegisterAnswer};
use everstep_store::BoxFuture;
use futures_util::future::{Either, select};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use super::backoff::Backoff;
use super::clock::ServerClock;
use super::convert;
use super::heartbeat::keep_alive;
use super::inbox::Inbox;
use super::seat::RemoteSeat;
use super::sending::{Outgoing, SENDERS, keep_sending};
use super::worker::Setup;

/// What a claim may take longer than it waits, before its connection is given up. Journals may take a while to arrive; that
/// the session is alive is said apart (`heartbeat.rs`).
const CLAIM_MARGIN: Duration = Duration::from_secs(10);
/// What any other request may take.
const REQUEST_PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Session {
    setup: Arc<Setup>,
    /// The address of the session.
    path: String,
    /// How long the server waits for news before it answers a claim.
    claim_wait: Duration,
    /// How long the session lives without a request.
    pub(super) time_to_live: Duration,
    pub(super) clock: Arc<ServerClock>,
    pub(super) outgoing: Outgoing,
    /// The runs it has, by token.
    seats: Mutex<BTreeMap<Arc<str>, Arc<Inbox>>>,
    over: AtomicBool,
    /// Signalled when the session is over, and when it has one run less.
    changed: Notify,
}

impl Session {
    pub(super) fn new(setup: Arc<Setup>, registered: &RegisterAnswer) -> Self {
        let clock = ServerClock::new(setup.runtime.clone(), registered.now);
        Self {
            path: format!("v1/workers/{}", segment(&registered.session)),
            claim_wait: Duration::from_millis(registered.heartbeat_every),
            time_to_live: Duration::from_millis(registered.time_to_live),
            clock: Arc::new(clock),
            outgoing: Outgoing::default(),
            seats: Mutex::default(),
            over: AtomicBool::new(false),
            changed: Notify::new(),
            setup,
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.setup.settings
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Executes what the server gives until the session is over: because the server says so, or the worker leaves.
    pub(super) async fn run(self: &Arc<Self>) {
        for _ in 0..SENDERS {
            let sender = Box::pin(keep_sending(self.clone()));
            self.setup.runtime.spawn(sender);
        }
        self.setup.runtime.spawn(Box::pin(keep_alive(self.clone())));
        let claiming = std::pin::pin!(self.keep_claiming());
        let leaving = std::pin::pin!(self.leave_when_asked());
        select(claiming, leaving).await;
        self.end();
    }

    async fn keep_claiming(self: &Arc<Self>) {
        let mut request = ClaimRequest::default();
        let mut backoff = Backoff::default();
        while !self.is_over() {
            request.leaving = self.setup.is_leaving();
            let Some(answer) = self.claim(&request).await else {
                continue;
            };
            self.clock.hear(answer.now);
            for item in answer.items {
                if item.number > request.after {
                    request.after = item.number;
                    self.take_in(item);
                }
            }
            match answer.closing {
                true => backoff.rest(&*self.setup.runtime).await,
                false => backoff.reset(),
            }
        }
    }

    /// One claim; nothing if it was broken off because the worker wants to leave, or the session is over.
    async fn claim(&self, request: &ClaimRequest) -> Option<ClaimAnswer> {
        let claim = std::pin::pin!(self.must("claim", request));
        if request.leaving {
            return claim.await.ok();
        }
        let leaving = std::pin::pin!(self.setup.until_leaving());
        match select(claim, leaving).await {
            Either::Left((answer, _)) => answer.ok(),
            Either::Right(_) => None,
        }
    }

    fn take_in(self: &Arc<Self>, item: Item) {
        if let Some(run) = item.run {
            self.execute(run);
        }
        if let Some(news) = item.news {
            let inbox = self.seats().get(news.token.as_str()).cloned();
            match inbox {
                Some(inbox) => inbox.news(news.after, convert::message(news.word)),
                // The server takes a run for executed that nobody here executes.
                None => self.outgoing.release(news.token),
            }
        }
    }

    fn execute(self: &Arc<Self>, run: Assigned) {
        let token: Arc<str> = run.token.into();
        let inbox = Arc::<Inbox>::default();
        self.seats().insert(token.clone(), inbox.clone());
        if self.setup.is_leaving() {
            inbox.news(0, Message::Stop);
        }
        let seat = RemoteSeat {
            session: self.clone(),
            token,
            inbox,
            runtime: self.clock.clone(),
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
        let execution = self.setup.registry.execute(activation);
        self.setup.runtime.spawn(execution);
    }

    /// An executor has ended.
    pub(super) fn let_go(&self, token: &Arc<str>) {
        self.seats().remove(token);
        if !self.is_over() {
            self.outgoing.release(token.to_string());
        }
        self.changed.notify_waiters();
    }

    /// Once the worker is to leave: its executors finish their steps and release their runs, and the server hears that it
    /// goes.
    async fn leave_when_asked(self: &Arc<Self>) {
        self.setup.until_leaving().await;
        let inboxes: Vec<_> = self.seats().values().cloned().collect();
        for inbox in inboxes {
            inbox.news(0, Message::Stop);
        }
        let runtime = &self.setup.runtime;
        let drained = std::pin::pin!(self.drained());
        select(drained, runtime.sleep(self.setup.settings.shutdown_grace)).await;
        let call = Call::new(http::Method::DELETE, self.path.clone());
        if let Err(error) = self.connection().send(call).await {
            tracing::warn!(%error, "the server did not hear that the worker leaves; it will notice");
        }
    }

    /// Completes when no executor is left.
    async fn drained(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.seats().is_empty() || self.is_over() {
                return;
            }
            changed.await;
        }
    }

    /// The session is over: its runs are lost.
    fn end(&self) {
        self.over.store(true, Ordering::Release);
        let seats = std::mem::take(&mut *self.seats());
        for inbox in seats.values() {
            inbox.lose();
        }
        self.outgoing.wake();
        self.changed.notify_waiters();
    }

    /// Posts to the session, again and again until there is an answer: what passes is waited for, a refusal is given.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        verb: &str,
        request: &(impl Serialize + Sync),
    ) -> Result<T, CallError> {
        let path = format!("{}/{verb}", self.path);
        let call = Call::post(path).json(request)?;
        let call = call.timeout(self.timeout(verb));
        let mut backoff = Backoff::default();
        loop {
            let answer = self.connection().send(call.clone()).await;
            match answer.and_then(|answer| answer.json()) {
                Ok(answer) => return Ok(answer),
                Err(error) if error.is_temporary() && !self.is_over() => {
                    tracing::debug!(%error, verb, "the server gave no answer; trying again");
                    backoff.rest(&*self.setup.runtime).await;
                }
                Err(error) => {
                    if error.code() == Some(ErrorCode::UnknownSession) {
                        self.end();
                    }
                    return Err(error);
                }
            }
        }
    }

    /// How long a request may take before it is sent again.
    fn timeout(&self, verb: &str) -> Duration {
        match verb {
            "claim" => self.claim_wait.saturating_add(CLAIM_MARGIN),
            // One that gets lost must leave time for another.
            "heartbeat" => self.claim_wait.min(REQUEST_PATIENCE),
            _ => REQUEST_PATIENCE,
        }
    }

    pub(super) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.setup.runtime.sleep(duration)
    }

    /// Posts what a session cannot do without. A refusal ends the session: its server gives the runs back once it hears no more
    /// of it, and the worker comes again after a rest.
    pub(super) async fn must<T: DeserializeOwned>(
        &self,
        verb: &str,
        request: &(impl Serialize + Sync),
    ) -> Result<T, CallError> {
        let answer = self.call(verb, request).await;
        if let Err(error) = &answer
            && !self.is_over()
        {
            tracing::warn!(%error, verb, "the server refuses this session; coming again");
            self.end();
        }
        answer
    }

    fn connection(&self) -> &Connection {
        &self.setup.connection
    }

    fn seats(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<Inbox>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
