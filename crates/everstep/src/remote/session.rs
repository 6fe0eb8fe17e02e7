//! One session with a server, from registering to its end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::Settings;
use everstep_model::ErrorCode;
use everstep_protocol::client::{Call, CallError, Connection, segment};
use everstep_protocol::worker::RegisterAnswer;
use everstep_store::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use super::backoff::Backoff;
use super::clock::ServerClock;
use super::inbox::Inbox;
use super::outgoing::Outgoing;
use super::setup::Setup;

/// What a claim may take longer than it waits, before its connection is given up. Journals may take a while to arrive; that
/// the session is alive is said apart (`heartbeat.rs`).
const CLAIM_MARGIN: Duration = Duration::from_secs(10);
/// What any other request may take.
const REQUEST_PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Session {
    pub(super) setup: Arc<Setup>,
    /// The address of the session.
    pub(super) path: String,
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
    pub(super) changed: Notify,
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

    /// An executor has ended.
    pub(super) fn let_go(&self, token: &Arc<str>) {
        self.seats().remove(token);
        if !self.is_over() {
            self.outgoing.release(token.to_string());
        }
        self.changed.notify_waiters();
    }

    /// The session is over: its runs are lost.
    pub(super) fn end(&self) {
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

    pub(super) fn connection(&self) -> &Connection {
        &self.setup.connection
    }

    pub(super) fn seats(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<Inbox>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
