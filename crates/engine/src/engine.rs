//! The engine as its users hold it: a cheap handle to everything above.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use everstep_inspect::Why;
use everstep_model::{Entry, NodeId, Record, RecordNumber, RpcId, RunId, StreamNumber};
use everstep_store::{Bus, ListPage, ListQuery, RpcRow, RunRow, Store, Subscription};

use crate::activation::Worker;
use crate::answer::{Answer, Answered};
use crate::committer::{Committer, Grouping};
use crate::core::Core;
use crate::error::{AnswerError, OpenRpcError, ReadError, SendError, StartError, Unavailable};
use crate::failures::{FailureHook, Failures};
use crate::inspect::RunInfo;
use crate::lane;
use crate::request::Question;
use crate::roles::{Role, Roles};
use crate::runtime::Runtime;
use crate::send::{SendEvent, Sent};
use crate::settings::Settings;
use crate::start::{Start, Started};
use crate::stats::Stats;
use crate::streams::Streams;
use crate::watch::{Emissions, Records};
use crate::workers::Workers;

/// What an engine is made of.
pub struct EngineParts {
    /// Where truth lives.
    pub store: Arc<dyn Store>,
    /// Where hints travel.
    pub bus: Arc<dyn Bus>,
    /// Time, randomness, tasks.
    pub runtime: Arc<dyn Runtime>,
    /// How it behaves.
    pub settings: Settings,
    /// Who executes workflow code in this process; none for an engine that only serves requests.
    pub workers: Vec<Arc<dyn Worker>>,
    /// Who hears of failures.
    pub failure_hooks: Vec<FailureHook>,
}

impl Core {
    /// Begins to do what the node is there for, and picks up whatever was left behind.
    async fn begin_roles(self: &Arc<Self>) -> Result<(), Unavailable> {
        self.read_catalog().await?;
        if self.store.describe().spans_processes {
            self.tell_of_workers().await?;
            self.spawn(Box::pin(self.clone().keep_catalog()));
        }
        if self.is(Role::Timers) {
            self.settle_outbox().await?;
            self.spawn(Box::pin(self.clone().keep_sweeping_outbox()));
            self.spawn(Box::pin(self.clone().run_timers()));
            self.spawn(Box::pin(self.clone().keep_retention()));
        }
        if self.is(Role::Worker) {
            self.spawn(Box::pin(self.clone().keep_sweeping()));
            self.spawn(Box::pin(self.clone().evict_idle()));
            self.recover().await?;
        }
        Ok(())
    }
}

/// A running engine. Clones share it; it goes on until [`Engine::shutdown`].
#[derive(Clone)]
pub struct Engine {
    pub(crate) core: Arc<Core>,
    _hints: Arc<Subscription>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine(node {})", self.core.node)
    }
}

impl AsRef<Self> for Engine {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Engine {
    /// Starts an engine and picks up whatever was left behind.
    pub async fn open(parts: EngineParts) -> Result<Self, Unavailable> {
        let (failures, telling) = Failures::to(parts.failure_hooks);
        let node = NodeId(parts.runtime.random());
        let core = Arc::new(Core {
            node,
            senders: lane::senders(&*parts.store, &*parts.runtime, node),
            store: parts.store,
            bus: parts.bus,
            runtime: parts.runtime,
            settings: parts.settings,
            workers: Workers::of(parts.workers),
            catalog: Default::default(),
            committer: Committer::default(),
            hot: Default::default(),
            timers: Default::default(),
            outbox: Default::default(),
            watchers: Default::default(),
            reach: Default::default(),
            streams: Default::default(),
            failures,
            endings: Default::default(),
            counters: Default::default(),
            closing: AtomicBool::new(false),
            stopping: Default::default(),
            ended: Default::default(),
            tasks: Default::default(),
        });
        core.renew_lease().await?;
        let committer = core.committer.clone();
        let task = committer.run(
            core.store.clone(),
            core.runtime.clone(),
            core.watchers.clone(),
            core.reach.clone(),
            core.senders.clone(),
        );
        core.runtime.spawn_committer(core.counted(Box::pin(task)));
        let listener = Arc::downgrade(&core);
        let follow = move |hint| {
            if let Some(core) = listener.upgrade() {
                core.follow(hint);
            }
        };
        let hints = core.bus.subscribe(Box::new(follow));
        if let Some(telling) = telling {
            core.spawn(Box::pin(telling));
        }
        core.spawn(Box::pin(core.clone().keep_lease()));
        core.spawn(Box::pin(core.clone().run_outbox()));
        if let Err(error) = core.begin_roles().await {
            core.shutdown().await;
            return Err(error);
        }
        Ok(Self {
            core,
            _hints: Arc::new(hints),
        })
    }

    /// What this node does for its installation.
    #[must_use]
    pub fn roles(&self) -> Roles {
        self.core.settings.roles
    }

    /// Starts a run, or gives the existing one.
    pub async fn start(&self, start: Start) -> Result<Started, StartError> {
        self.core.start(start).await
    }

    /// Sends an event to a run.
    pub async fn send(&self, event: SendEvent) -> Result<Sent, SendError> {
        self.core.send(event).await
    }

    /// Sends an event to a run and waits for the answer.
    pub async fn ask(&self, event: SendEvent) -> Result<Question, SendError> {
        self.core.ask(event).await
    }

    /// The open rpc with that id, for instance to see what it asks.
    pub async fn open_rpc(&self, run: &RunId, rpc: &RpcId) -> Result<RpcRow, OpenRpcError> {
        self.core.open_rpc(run, rpc).await
    }

    /// Answers an rpc.
    pub async fn answer(&self, answer: Answer) -> Result<Answered, AnswerError> {
        self.core.answer(answer).await
    }

    /// The list row of a run.
    pub async fn row(&self, run: &RunId) -> Result<RunRow, ReadError> {
        self.core.find(run).await.map(|(_, row)| row)
    }

    /// A run in full.
    pub async fn inspect(&self, run: &RunId) -> Result<RunInfo, ReadError> {
        self.core.inspect(run).await
    }

    /// A run's whole journal.
    pub async fn journal(&self, run: &RunId) -> Result<Vec<Entry>, ReadError> {
        self.core.journal(run).await.map(|(_, journal)| journal)
    }

    /// Why a run is not moving.
    pub async fn why(&self, run: &RunId) -> Result<Why, ReadError> {
        self.core.why(run).await
    }

    /// A page of the list of runs.
    pub async fn list(&self, query: ListQuery) -> Result<ListPage, Unavailable> {
        Ok(self.core.list(query).await?)
    }

    /// Waits until the run is over, and gives its last record. `known` is a stream of the run, of whoever has started it.
    pub async fn ended(
        &self,
        run: &RunId,
        known: Option<StreamNumber>,
    ) -> Result<Record, ReadError> {
        self.core.ended(run, known).await
    }

    /// How commits were grouped since it was opened.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.core.committer.grouping()
    }

    /// The records of a run as they come.
    pub async fn records(&self, run: &RunId, from: RecordNumber) -> Result<Records, ReadError> {
        self.core.records(run, from).await
    }

    /// The streams of users.
    #[must_use]
    pub fn streams(&self) -> Streams {
        Streams {
            core: self.core.clone(),
        }
    }

    /// What workflows emit from now on.
    #[must_use]
    pub fn emissions(&self) -> Emissions {
        self.core.watchers.subscribe()
    }

    /// Whether requests can be served: the engine is open, and its store takes writes.
    ///
    /// # Errors
    /// If not, and why.
    pub fn ready(&self) -> Result<(), Unavailable> {
        self.core.check_open()?;
        self.core.watchers.check_open()
    }

    /// What it has done since it was opened, in figures.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.core.stats()
    }

    /// How many runs are in memory.
    #[must_use]
    pub fn hot_runs(&self) -> usize {
        self.core.hot.len()
    }

    /// The engine's runtime.
    #[must_use]
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        self.core.runtime.clone()
    }

    /// Whether the engine is about to end, or has ended.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.core.is_closing()
    }

    /// Completes when the engine begins to end.
    pub async fn closing(&self) {
        let mut stopping = std::pin::pin!(self.core.stopping.notified());
        stopping.as_mut().enable();
        if !self.core.is_closing() {
            stopping.await;
        }
    }

    /// Ends the engine in good order.
    pub async fn shutdown(&self) {
        self.core.shutdown().await;
    }
}
