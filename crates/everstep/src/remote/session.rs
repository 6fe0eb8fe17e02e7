//! One session with a server, from registration to its end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::Settings;
use everstep_model::ErrorCode;
use everstep_protocol::client::{Call, CallError, segment};
use everstep_protocol::worker::RegisterAnswer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use super::backoff::Backoff;
use super::clock::ServerClock;
use super::inbox::Inbox;
use super::outgoing::Outgoing;
use super::setup::Setup;

/// How much longer a claim may take than the server holds it. Long journals take a while to arrive;
/// heartbeats keep the session alive meanwhile.
const CLAIM_MARGIN: Duration = Duration::from_secs(10);
/// Timeout of all other requests.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Session {
    pub(super) setup: Arc<Setup>,
    /// Those of the worker, with development mode if the server is in it.
    pub(super) settings: Settings,
    pub(super) path: String,
    /// How long the server holds a claim.
    claim_wait: Duration,
    /// How long the session survives without a request.
    pub(super) time_to_live: Duration,
    pub(super) clock: Arc<ServerClock>,
    pub(super) outgoing: Outgoing,
    /// The inboxes of its runs, by token.
    seats: Mutex<BTreeMap<Arc<str>, Arc<Inbox>>>,
    over: AtomicBool,
    /// Signalled when the session ends and when it loses a run.
    pub(super) changed: Notify,
}

impl Session {
    pub(super) fn new(setup: Arc<Setup>, registered: &RegisterAnswer) -> Self {
        let clock = ServerClock::new(setup.runtime.clone(), registered.now);
        let mut settings = setup.settings.clone();
        settings.development |= registered.development;
        Self {
            settings,
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

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Releases the run of an executor that has ended.
    pub(super) fn release(&self, token: &Arc<str>) {
        self.seats().remove(token);
        if !self.is_over() {
            self.outgoing.release(token.to_string());
        }
        self.changed.notify_waiters();
    }

    /// Ends the session. Its runs are lost.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
        let seats = std::mem::take(&mut *self.seats());
        for inbox in seats.values() {
            inbox.lose();
        }
        self.outgoing.wake();
        self.changed.notify_waiters();
    }

    /// Posts to the session. Temporary errors are retried, others are returned.
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
            let answer = self.setup.connection.send(call.clone()).await;
            match answer.and_then(|answer| answer.json()) {
                Ok(answer) => return Ok(answer),
                Err(error) if error.is_temporary() && !self.is_over() => {
                    tracing::debug!(%error, verb, "request failed, retrying");
                    backoff.wait(&*self.setup.runtime).await;
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

    fn timeout(&self, verb: &str) -> Duration {
        match verb {
            "claim" => self.claim_wait.saturating_add(CLAIM_MARGIN),
            // A lost heartbeat must leave time for another.
            "heartbeat" => self.claim_wait.min(REQUEST_TIMEOUT),
            _ => REQUEST_TIMEOUT,
        }
    }

    /// Posts a request that the session depends on. An error ends the session: the server releases
    /// its runs when it expires, and the worker registers again.
    pub(super) async fn call_or_end<T: DeserializeOwned>(
        &self,
        verb: &str,
        request: &(impl Serialize + Sync),
    ) -> Result<T, CallError> {
        let answer = self.call(verb, request).await;
        if let Err(error) = &answer
            && !self.is_over()
        {
            tracing::warn!(%error, verb, "session rejected, registering again");
            self.end();
        }
        answer
    }

    pub(super) fn seats(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<Inbox>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
