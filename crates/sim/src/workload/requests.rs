//! The requests of clients to runs. The ledger records each request with its outcome, as far as the
//! client receives it.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use everstep::control::{ControlError, Sent};
use everstep::errors::{ReadError, SendError, SendRejection, Unavailable};
use everstep::{Engine, Event as _, Payload, Rpc as _, RunHandle, RunStatus, WaitError};
use everstep_engine::simulation::Rng;

use super::workflows::{Ask, Item, Ping, Pong, RANDOM};
use crate::cluster::{World, true_time};
use crate::observed::{Deletion, SendOutcome, SendTry};
use crate::program::Op;

/// The control requests by name.
pub(super) const VERBS: &[&str] = &[
    "pause",
    "resume",
    "cancel",
    "cancel-rollback",
    "terminate",
    "restart",
    "recover",
    "retry-rollback",
    "restart-from",
    "fork",
    "skip",
    "edit",
    "fail-operation",
    "force-fail",
    "delete",
];

/// The other requests by name.
const REQUESTS: &[&str] = &[
    "start",
    "start-keyed",
    "send",
    "send-once",
    "answer",
    "wait",
    "read",
];

/// Returns the names of all requests that a campaign must have made.
pub(crate) fn all_requests() -> impl Iterator<Item = &'static str> {
    REQUESTS.iter().chain(VERBS).copied()
}

/// One client.
pub(super) struct Client {
    pub(super) world: Arc<World>,
    pub(super) number: usize,
    pub(super) rng: Rng,
    pub(super) sent: u64,
}

impl Client {
    fn machine(&mut self) -> usize {
        self.rng.index(self.world.machines.len())
    }

    fn log(&self, what: impl FnOnce() -> String) {
        self.world.log(&format!("client {}", self.number), what);
    }

    /// Sends a request to a machine, and adds a line about it to the timeline.
    async fn request<T, E, Fut>(
        &self,
        machine: usize,
        what: impl FnOnce() -> String,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<Result<T, E>>
    where
        T: Send + 'static,
        E: Display + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        let answer = self.world.request(machine, ask).await;
        self.log(|| format!("{} at {machine}: {}", what(), describe(&answer)));
        answer
    }

    /// Returns a number that no event and no answer has carried before.
    fn token(&mut self) -> u64 {
        self.sent += 1;
        (self.number as u64 + 1) * 1_000_000 + self.sent
    }

    pub(super) async fn start(&mut self, run: String, program: Vec<Op>) {
        let machine = self.machine();
        let key = self.rng.one_in(3).then(|| format!("key-{run}"));
        let is_strict = self.rng.one_in(6);
        let deadline = self.rng.one_in(5).then(|| self.rng.within(1_000..20_000));
        {
            let mut ledger = self.world.ledger();
            ledger.count_request("start");
            let programs = ledger.programs.entry(run.clone()).or_default();
            programs.push(program.clone());
        }
        let (id, with_key) = (run.clone(), key.clone());
        let start = move |engine: Engine| async move {
            let input = Payload::from_value(&program)?;
            let mut start = engine.start_by_name(RANDOM, input).id(id);
            if let Some(key) = with_key {
                start = start.idempotency_key(key);
            }
            if let Some(deadline) = deadline {
                start = start.deadline(Duration::from_millis(deadline));
            }
            if is_strict {
                start = start.strict();
            }
            start.await
        };
        let answer = self
            .request(machine, || format!("start {run}"), start)
            .await;
        let mut ledger = self.world.ledger();
        if let Some(Ok(handle)) = answer {
            ledger.answered += 1;
            ledger
                .starts
                .push((handle.id().to_string(), handle.created()));
            if let Some(key) = key {
                let led_to = ledger.keys.entry(key).or_default();
                led_to.insert(handle.id().to_string());
            }
        }
    }

    /// Starts two runs concurrently with one key; one of them is created.
    pub(super) async fn start_twice(&mut self, which: u64) {
        let key = format!("shared-{which}");
        let starts = [0, 1].map(|twin| {
            let (machine, token) = (self.machine(), self.token());
            (machine, format!("keyed-{which}-{token}-{twin}"))
        });
        self.world.ledger().count_request("start-keyed");
        let started = starts.map(|(machine, id)| {
            let key = key.clone();
            self.world.request(machine, move |engine| async move {
                let input = Payload::from_value(&(0, false))?;
                let start = engine.start_by_name("leaf", input).id(id);
                start.idempotency_key(key).await
            })
        });
        let answers = futures_util::future::join_all(started).await;
        for answer in answers {
            self.log(|| format!("start with {key}: {}", describe(&answer)));
            if let Some(Ok(handle)) = answer {
                let mut ledger = self.world.ledger();
                let led_to = ledger.keys.entry(key.clone()).or_default();
                led_to.insert(handle.id().to_string());
            }
        }
    }

    /// Sends an event without a dedup id. It is not repeated if the answer is lost.
    pub(super) async fn send(&mut self, run: String) {
        let (machine, token) = (self.machine(), self.token());
        let pong = self.rng.one_in(2);
        let (event, payload) = match pong {
            true => (Pong::NAME, Payload::from_value(&Pong(token))),
            false => (Ping::NAME, Payload::from_value(&Ping(token))),
        };
        let Ok(payload) = payload else { return };
        let outcome = self.send_to(machine, &run, event, payload, None).await;
        self.record_send("send", run, token, None, outcome);
    }

    /// Sends an item to the collector, and repeats it until it is acknowledged.
    pub(super) async fn send_once(&mut self, collector: &str) {
        let token = self.token();
        let dedup = format!("{}-{token}", self.number);
        let Ok(payload) = Payload::from_value(&Item(Some(token))) else {
            return;
        };
        for _ in 0..6 {
            let machine = self.machine();
            let once = Some(dedup.clone());
            let outcome = self
                .send_to(machine, collector, Item::NAME, payload.clone(), once)
                .await;
            let is_known = matches!(outcome, SendOutcome::Acked(_));
            self.record_send(
                "send-once",
                collector.to_owned(),
                token,
                Some(dedup.clone()),
                outcome,
            );
            if is_known {
                return;
            }
            self.world.sleep(Duration::from_millis(400)).await;
        }
    }

    async fn send_to(
        &mut self,
        machine: usize,
        run: &str,
        event: &'static str,
        payload: Payload,
        dedup: Option<String>,
    ) -> SendOutcome {
        let id = run.to_owned();
        let send = move |engine: Engine| async move {
            let handle = engine.run(id).await?;
            handle.send_by_name(event, payload, dedup).await
        };
        let answer = self.request(machine, || format!("send {event} to {run}"), send);
        match answer.await {
            Some(Ok(Sent::Accepted(at) | Sent::Duplicate(at))) => SendOutcome::Acked(at.0),
            // The event may have been stored although the store failed.
            Some(Err(SendError::Rejected(SendRejection::Unavailable(Unavailable::Store(_)))))
            | None => SendOutcome::Unknown,
            Some(Err(error)) => SendOutcome::Refused(error.to_string()),
        }
    }

    fn record_send(
        &self,
        name: &'static str,
        run: String,
        token: u64,
        dedup: Option<String>,
        outcome: SendOutcome,
    ) {
        let mut ledger = self.world.ledger();
        ledger.count_request(name);
        ledger.answered += u64::from(matches!(outcome, SendOutcome::Acked(_)));
        ledger.sends.push(SendTry {
            run,
            token,
            dedup,
            client: self.number,
            outcome,
        });
    }

    pub(super) async fn answer(&mut self, run: String) {
        let (machine, token) = (self.machine(), self.token());
        {
            let mut ledger = self.world.ledger();
            ledger.count_request("answer");
            ledger.answers.insert(token);
        }
        let id = run.clone();
        let answer = move |engine: Engine| async move {
            let handle = engine.run(id).await?;
            let open = handle.inspect().await?.overview.rpcs;
            match open.iter().find(|rpc| rpc.method.as_str() == Ask::METHOD) {
                Some(rpc) => handle
                    .answer::<Ask>(&rpc.rpc_id, &token)
                    .await
                    .map(|()| true),
                None => Ok(false),
            }
        };
        self.request(machine, || format!("answer {run}"), answer)
            .await;
    }

    /// Waits for the end of a run, and records the result.
    pub(super) async fn wait(&mut self, run: String) {
        let machine = self.machine();
        let world = self.world.clone();
        world.ledger().count_request("wait");
        let clients = world.clients;
        self.world.executor.spawn(clients, async move {
            let id = run.clone();
            let received = world
                .request(machine, move |engine| async move {
                    let handle = engine.run(id).await.ok()?;
                    match handle.wait_json().await {
                        Ok(result) => Some(Ok(result.as_str().to_owned())),
                        Err(WaitError::Read(_)) => None,
                        Err(error) => Some(Err(error.to_string())),
                    }
                })
                .await;
            if let Some(Some(received)) = received {
                world.ledger().received.push((run, received));
            }
        });
    }

    /// Lists runs, and reads one of them in every way.
    pub(super) async fn read(&mut self, run: String) {
        let machine = self.machine();
        self.world.ledger().count_request("read");
        let id = run.clone();
        let read = move |engine: Engine| async move {
            let page = engine.list().limit(20).await?;
            let handle = engine.run(id).await?;
            let why = handle.why().await?;
            let info = handle.inspect().await?;
            Ok::<_, ReadError>((page.runs.len(), why.to_string(), info.row.status))
        };
        self.request(machine, || format!("read {run}"), read).await;
    }

    /// Records a request to delete a run, and returns its index.
    fn record_deletion(&self, run: &str) -> usize {
        let mut ledger = self.world.ledger();
        ledger.deletions.push(Deletion {
            run: run.to_owned(),
            requested_at: true_time(self.world.executor.now()),
            answered_at: None,
        });
        ledger.deletions.len() - 1
    }

    /// Makes a control request.
    pub(super) async fn control(&mut self, run: String, verb: &'static str, fork: String) {
        let (machine, pick) = (self.machine(), self.rng.number());
        self.world.ledger().record_control(&run, verb);
        let deletion = (verb == "delete").then(|| self.record_deletion(&run));
        let id = run.clone();
        let control = move |engine| control(engine, id, verb, pick, fork);
        let answer = self.request(machine, || format!("{verb} {run}"), control);
        let answer = answer.await;
        if let (Some(deletion), Some(_)) = (deletion, &answer) {
            let now = true_time(self.world.executor.now());
            if let Some(deletion) = self.world.ledger().deletions.get_mut(deletion) {
                deletion.answered_at = Some(now);
            }
        }
        self.world.ledger().answered += u64::from(matches!(answer, Some(Ok(_))));
    }
}

fn describe<T, E: Display>(answer: &Option<Result<T, E>>) -> String {
    match answer {
        None => "unknown".to_owned(),
        Some(Ok(_)) => "done".to_owned(),
        Some(Err(error)) => format!("refused: {error}"),
    }
}

async fn control(
    engine: Engine,
    run: String,
    verb: &'static str,
    pick: u64,
    fork: String,
) -> Result<(), ControlError> {
    const REASON: &str = "by an operator";
    let handle = engine.run(&run).await?;
    match verb {
        "pause" => handle.pause().await.map(drop),
        "resume" => handle.resume().await.map(drop),
        "cancel" => handle.cancel().keep().await.map(drop),
        "cancel-rollback" => handle.cancel().await.map(drop),
        "terminate" => handle.terminate().await.map(drop),
        "restart" => handle.restart().await.map(drop),
        "recover" => handle.recover().await.map(drop),
        "retry-rollback" => handle.retry_rollback().await.map(drop),
        "force-fail" => handle.force_fail(REASON).await.map(drop),
        "delete" => handle.delete().await.map(drop),
        "fork" => {
            let fork = handle.fork().id(fork);
            match pick_location(&handle, pick).await? {
                Some(at) if pick.is_multiple_of(2) => fork.at(at).await.map(drop),
                _ => fork.await.map(drop),
            }
        }
        _ => {
            let Some(at) = pick_location(&handle, pick).await? else {
                return Ok(());
            };
            match verb {
                "skip" => handle.skip_step(at).result("skipped").await.map(drop),
                "edit" => handle.edit_step(at, "edited").await.map(drop),
                "fail-operation" => handle.fail_operation(at, REASON).await.map(drop),
                _ => handle.restart_from(at).await.map(drop),
            }
        }
    }
}

/// Returns the location of an operation that the run has called.
async fn pick_location(handle: &RunHandle, pick: u64) -> Result<Option<String>, ReadError> {
    let journal = handle.journal().await?;
    let records = journal.iter().map(|entry| &entry.record);
    let locations: Vec<_> = records.filter_map(|r| r.body.location()).collect();
    let mut rng = Rng::new(pick, 5);
    Ok(rng.pick(&locations).map(ToString::to_string))
}

/// Whether the run continues only if it is resumed.
pub(super) fn is_paused(status: RunStatus) -> bool {
    matches!(status, RunStatus::Paused | RunStatus::Pausing)
}
