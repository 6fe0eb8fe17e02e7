//! The clients: each starts one run after the other at whichever API node answers, sends what the run waits for, waits for its
//! end, and writes down what it was told. What it does not know it asks again, elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everstep_model::{Payload, RunStatus};
use everstep_protocol::client::{Call, CallError, Connection, HttpOptions, HttpTransport};
use everstep_protocol::workflow::{EventAnswer, RunView, StartAnswer, StartRequest};
use everstep_sim::rng::Rng;
use http::HeaderName;
use serde::de::DeserializeOwned;

use crate::ledger::true_millis;
use crate::program::{Outcome, Program};
use crate::workflow::{PROGRAM, Token};

const DEDUP_ID: HeaderName = HeaderName::from_static("idempotency-key");
/// How long a client waits before it asks again.
const AGAIN_AFTER: Duration = Duration::from_millis(120);

/// What a client was told of its run.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) run: String,
    pub(crate) program: Program,
    /// Whether anybody acknowledged that it exists.
    pub(crate) started: bool,
    /// How many answers said that they created it.
    pub(crate) created: u32,
    /// How many tokens were acknowledged.
    pub(crate) tokens: u64,
    /// How it ended, as each who was asked said, and when in true milliseconds.
    pub(crate) ends: Vec<(Outcome, u64)>,
    /// Answers that should not have been.
    pub(crate) strange: Vec<String>,
    /// How often an answer was missing or a refusal for the moment.
    pub(crate) unanswered: u64,
}

/// What all clients share.
pub(crate) struct Clients {
    apis: Vec<Connection>,
    /// No more runs are started.
    pub(crate) is_enough: AtomicBool,
    /// Nothing is waited for any more.
    pub(crate) is_over: AtomicBool,
    seed: u64,
}

impl Clients {
    pub(crate) fn new(apis: &[String], seed: u64) -> anyhow::Result<Arc<Self>> {
        let mut options = HttpOptions::default();
        options.patience = Duration::from_secs(15);
        options.connect_timeout = Duration::from_secs(1);
        let transport = Arc::new(HttpTransport::new(options));
        let apis = apis
            .iter()
            .map(|url| Connection::over(transport.clone(), url));
        Ok(Arc::new(Self {
            apis: apis.collect::<Result<_, _>>()?,
            is_enough: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            seed,
        }))
    }

    /// One client: run after run, until it is enough.
    pub(crate) async fn live(self: Arc<Self>, number: u64) -> Vec<Told> {
        let mut all = Vec::new();
        let mut rng = Rng::new(self.seed, 1_000 + number);
        while !self.is_enough.load(Ordering::Relaxed) {
            let run = format!("c{number}-{}", all.len());
            let mut client = Client {
                shared: &self,
                rng: &mut rng,
                told: Told::of(run),
            };
            client.told.program = Program::random(client.rng);
            client.follow().await;
            all.push(client.told);
        }
        all
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Told {
    fn of(run: String) -> Self {
        Self {
            run,
            program: Program {
                ops: Vec::new(),
                fails: false,
            },
            started: false,
            created: 0,
            tokens: 0,
            ends: Vec::new(),
            strange: Vec::new(),
            unanswered: 0,
        }
    }
}

/// One client and the run it is about.
struct Client<'a> {
    shared: &'a Clients,
    rng: &'a mut Rng,
    told: Told,
}

impl Client<'_> {
    async fn follow(&mut self) {
        let program = self.told.program.clone();
        self.start(&program).await;
        for token in 1..=program.events() {
            self.send(token).await;
            // What was acknowledged and is sent again counts once.
            if self.rng.one_in(4) {
                self.send(token).await;
            }
            self.told.tokens = token;
            if self.shared.is_over() {
                return;
            }
        }
        if self.rng.one_in(4) {
            // The first input stays, whatever comes later.
            let other = Program::random(self.rng);
            self.start(&other).await;
        }
        self.wait_for_end().await;
        self.wait_for_end().await;
    }

    async fn start(&mut self, program: &Program) {
        let Ok(input) = Payload::from_value(program) else {
            return;
        };
        let mut request = StartRequest::new(PROGRAM, input);
        request.id = Some(self.told.run.clone());
        let Ok(call) = Call::post("workflows").json(&request) else {
            return;
        };
        if let Some(answer) = self.ask::<StartAnswer>(&call).await {
            self.told.started = true;
            self.told.created += u32::from(answer.created);
        }
    }

    async fn send(&mut self, token: u64) {
        let path = format!("workflows/{}/events/token", self.told.run);
        let Ok(call) = Call::post(path).json(&Token(token)) else {
            return;
        };
        let id = format!("{}-{token}", self.told.run);
        self.ask::<EventAnswer>(&call.header(DEDUP_ID, &id)).await;
    }

    async fn wait_for_end(&mut self) {
        let call = Call::get(format!("workflows/{}?wait=5s", self.told.run));
        while !self.shared.is_over() {
            let Some(view) = self.ask::<RunView>(&call).await else {
                return;
            };
            let outcome = match view.status {
                RunStatus::Completed => {
                    let result = view.result.and_then(|result| result.decode().ok());
                    Outcome::Completed(result.unwrap_or_default())
                }
                RunStatus::Failed => Outcome::Failed,
                status if status.is_terminal() => {
                    return self.told.strange.push(format!("it is {status:?}"));
                }
                _ => continue,
            };
            return self.told.ends.push((outcome, true_millis()));
        }
    }

    /// Asks one node after the other until one answers; none if nobody does before it is over.
    async fn ask<T: DeserializeOwned>(&mut self, call: &Call) -> Option<T> {
        while !self.shared.is_over() {
            let api = self.rng.index(self.shared.apis.len());
            let api = self.shared.apis.get(api)?;
            let answer = match api.send(call.clone()).await {
                Ok(answer) => answer.json(),
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) => return Some(answer),
                Err(error) if may_be_asked_again(&error) => self.told.unanswered += 1,
                Err(error) => {
                    self.told.strange.push(error.to_string());
                    return None;
                }
            }
            tokio::time::sleep(AGAIN_AFTER).await;
        }
        None
    }
}

/// Whether nobody answered, or somebody said that it cannot be done at the moment. A workflow that nobody knows yet will be told of.
fn may_be_asked_again(error: &CallError) -> bool {
    matches!(error, CallError::Transport(_))
        || error.status() == Some(503)
        || error.code() == Some(everstep_model::ErrorCode::UnknownWorkflow)
}
