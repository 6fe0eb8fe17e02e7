//! The clients. Each one starts runs one after the other on any reachable API node, sends the
//! events that a run waits for, waits for its end, and records its observations. A request without
//! a definite response is repeated on another node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everstep_engine::simulation::Rng;
use everstep_model::{Payload, RunStatus};
use everstep_protocol::client::{Call, CallError, Connection, HttpOptions, HttpTransport};
use everstep_protocol::workflow::{EventAnswer, RunView, StartAnswer, StartRequest};
use http::HeaderName;
use serde::de::DeserializeOwned;

use crate::ledger::true_millis;
use crate::program::{Outcome, Program};
use crate::workflow::{PROGRAM, Token};

const DEDUP_ID: HeaderName = HeaderName::from_static("idempotency-key");
/// The delay before a request is repeated.
const RETRY_DELAY: Duration = Duration::from_millis(120);

/// The observations of a client about one run.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) run: String,
    pub(crate) program: Program,
    /// Whether a response acknowledged that the run exists.
    pub(crate) started: bool,
    /// The number of responses that reported its creation.
    pub(crate) created: u32,
    /// The number of acknowledged tokens.
    pub(crate) tokens: u64,
    /// The end of the run as reported by each response, with the true time in milliseconds.
    pub(crate) ends: Vec<(Outcome, u64)>,
    /// Unexpected responses.
    pub(crate) unexpected: Vec<String>,
    /// The number of requests without a response or with a temporary error.
    pub(crate) retried: u64,
}

/// State shared by all clients.
pub(crate) struct Clients {
    apis: Vec<Connection>,
    /// Set when clients start no more runs.
    pub(crate) is_enough: AtomicBool,
    /// Set when clients stop waiting.
    pub(crate) is_over: AtomicBool,
    seed: u64,
}

impl Clients {
    pub(crate) fn new(apis: &[String], seed: u64) -> anyhow::Result<Arc<Self>> {
        let mut options = HttpOptions::default();
        options.timeout = Duration::from_secs(15);
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

    /// Runs one client until `is_enough` is set.
    pub(crate) async fn run_client(self: Arc<Self>, number: u64) -> Vec<Observed> {
        let mut all = Vec::new();
        let mut rng = Rng::new(self.seed, 1_000 + number);
        while !self.is_enough.load(Ordering::Relaxed) {
            let run = format!("c{number}-{}", all.len());
            let mut client = Client {
                shared: &self,
                rng: &mut rng,
                observed: Observed::of(run),
            };
            client.observed.program = Program::random(client.rng);
            client.follow().await;
            all.push(client.observed);
        }
        all
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Observed {
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
            unexpected: Vec::new(),
            retried: 0,
        }
    }
}

/// A client and its current run.
struct Client<'a> {
    shared: &'a Clients,
    rng: &'a mut Rng,
    observed: Observed,
}

impl Client<'_> {
    async fn follow(&mut self) {
        let program = self.observed.program.clone();
        self.start(&program).await;
        for token in 1..=program.events() {
            self.send(token).await;
            // A repeated token must take effect once.
            if self.rng.one_in(4) {
                self.send(token).await;
            }
            self.observed.tokens = token;
            if self.shared.is_over() {
                return;
            }
        }
        if self.rng.one_in(4) {
            // Starting an existing run must not change its input.
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
        request.id = Some(self.observed.run.clone());
        let Ok(call) = Call::post("workflows").json(&request) else {
            return;
        };
        if let Some(answer) = self.request::<StartAnswer>(&call).await {
            self.observed.started = true;
            self.observed.created += u32::from(answer.created);
        }
    }

    async fn send(&mut self, token: u64) {
        let path = format!("workflows/{}/events/token", self.observed.run);
        let Ok(call) = Call::post(path).json(&Token(token)) else {
            return;
        };
        let id = format!("{}-{token}", self.observed.run);
        self.request::<EventAnswer>(&call.header(DEDUP_ID, &id))
            .await;
    }

    async fn wait_for_end(&mut self) {
        let call = Call::get(format!("workflows/{}?wait=5s", self.observed.run));
        while !self.shared.is_over() {
            let Some(view) = self.request::<RunView>(&call).await else {
                return;
            };
            let outcome = match view.status {
                RunStatus::Completed => {
                    let result = view.result.and_then(|result| result.decode().ok());
                    Outcome::Completed(result.unwrap_or_default())
                }
                RunStatus::Failed => Outcome::Failed,
                status if status.is_terminal() => {
                    return self.observed.unexpected.push(format!("it is {status:?}"));
                }
                _ => continue,
            };
            return self.observed.ends.push((outcome, true_millis()));
        }
    }

    /// Sends the request to one node after the other until one responds. Returns `None` if none
    /// does before the test is over.
    async fn request<T: DeserializeOwned>(&mut self, call: &Call) -> Option<T> {
        while !self.shared.is_over() {
            let api = self.rng.index(self.shared.apis.len());
            let api = self.shared.apis.get(api)?;
            let answer = match api.send(call.clone()).await {
                Ok(answer) => answer.json(),
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) => return Some(answer),
                Err(error) if is_temporary(&error) => self.observed.retried += 1,
                Err(error) => {
                    self.observed.unexpected.push(error.to_string());
                    return None;
                }
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        None
    }
}

/// Whether the error is temporary: no response, or the status 503. An unknown workflow is
/// temporary too, because workers register it later.
fn is_temporary(error: &CallError) -> bool {
    matches!(error, CallError::Transport(_))
        || error.status() == Some(503)
        || error.code() == Some(everstep_model::ErrorCode::UnknownWorkflow)
}
