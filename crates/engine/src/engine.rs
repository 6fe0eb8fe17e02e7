//! The public handle to a running engine.

use std::ops::ControlFlow;
use std::sync::Arc;

use everstep_inspect::Why;
use everstep_model::{
    Body, Control, Entry, Generation, Location, Record, RecordNumber, RpcId, RunId, StreamNumber,
    limits,
};
use everstep_store::{
    Bus, Count, ListPage, ListQuery, RpcRow, RunRow, Store, StoreError, Subscription,
};

use crate::commit::Grouping;
use crate::core::Core;
use crate::error::{
    AnswerError, ControlError, OfferError, OpenRpcError, ReadError, SendError, StartError,
    Unavailable,
};
use crate::node::Node;
use crate::observers::{Emissions, EndedRun, Ending, Endings, FailureHook, Feed};
use crate::requests::control::{
    BulkProgress, Done, ForkRun, ImportRun, RequestOrigin, Revival, Settlement, Verb,
};
use crate::requests::{
    Answer, Answered, JournalPage, PageSize, PendingReply, Records, RunInfo, SendEvent, Sent,
    Start, Started,
};
use crate::roles::Roles;
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::streams::Streams;
use crate::workers::{KnownWorkflow, Offered, Worker};
use crate::{hints, shutdown};

/// The parts that an engine is built from.
#[allow(missing_docs, reason = "plain data")]
pub struct EngineParts {
    pub store: Arc<dyn Store>,
    pub bus: Arc<dyn Bus>,
    pub runtime: Arc<dyn Runtime>,
    pub settings: Settings,
    /// The workers in this process. Empty for an engine that only serves requests.
    pub workers: Vec<Arc<dyn Worker>>,
    /// Called for each failure.
    pub failure_hooks: Vec<FailureHook>,
}

/// A running engine. Clones share it. It runs until [`Engine::shutdown`].
#[derive(Clone)]
// Large type: one method for each request to an engine.
pub struct Engine {
    core: Arc<Core>,
    _hints: Arc<Subscription>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine(node {})", self.core.parts.node.id)
    }
}

impl AsRef<Self> for Engine {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Engine {
    /// Opens an engine and recovers unfinished runs.
    pub async fn open(parts: EngineParts) -> Result<Self, Unavailable> {
        let node = Node::new(parts.store, parts.bus, parts.runtime, parts.settings);
        let core = Core::open(node, parts.workers, parts.failure_hooks).await?;
        let core = Arc::new(core);
        let listener = Arc::downgrade(&core);
        let follow = move |hint| {
            if let Some(core) = listener.upgrade() {
                hints::follow(&core, hint);
            }
        };
        let hints = core.parts.node.bus.subscribe(Box::new(follow));
        if let Err(error) = core.start_tasks().await {
            shutdown::shutdown(&core).await;
            return Err(error);
        }
        Ok(Self {
            core,
            _hints: Arc::new(hints),
        })
    }

    /// Returns the roles of this node.
    #[must_use]
    pub fn roles(&self) -> Roles {
        self.core.parts.node.settings.roles
    }

    /// Returns whether each activation is replayed a second time, to find hidden nondeterminism.
    #[must_use]
    pub fn is_in_development(&self) -> bool {
        self.core.parts.node.settings.development
    }

    /// Starts a run, or returns the existing one.
    pub async fn start(&self, start: Start) -> Result<Started, StartError> {
        self.core.requests.start(start).await
    }

    /// Sends an event to a run.
    pub async fn send(&self, event: SendEvent) -> Result<Sent, SendError> {
        self.core.requests.send(event).await
    }

    /// Sends an event to a run. The result waits for the reply.
    pub async fn ask(&self, event: SendEvent) -> Result<PendingReply, SendError> {
        self.core.requests.ask(event).await
    }

    /// Returns the open rpc with that id.
    pub async fn open_rpc(&self, run: &RunId, rpc: &RpcId) -> Result<RpcRow, OpenRpcError> {
        self.core.requests.open_rpc(run, rpc).await
    }

    /// Answers an rpc.
    pub async fn answer(&self, answer: Answer) -> Result<Answered, AnswerError> {
        self.core.requests.answer(answer).await
    }

    /// Returns the row of a run in lists.
    pub async fn row(&self, run: &RunId) -> Result<RunRow, ReadError> {
        self.core.parts.node.find(run).await.map(|(_, row)| row)
    }

    /// Returns a run with the state that follows from its journal, which holds the results of all
    /// steps in memory. [`visit_journal`](Self::visit_journal) reads a journal of any size.
    pub async fn inspect(&self, run: &RunId) -> Result<RunInfo, ReadError> {
        self.core.requests.inspect(run, None).await
    }

    /// Returns a generation of a run with the state that follows from its journal, as
    /// [`inspect`](Self::inspect) does.
    pub async fn inspect_generation(
        &self,
        run: &RunId,
        generation: Generation,
    ) -> Result<RunInfo, ReadError> {
        self.core.requests.inspect(run, Some(generation)).await
    }

    /// Reads a part of the journal of a generation of a run, by default the latest.
    pub async fn journal_page(
        &self,
        run: &RunId,
        generation: Option<Generation>,
        from: RecordNumber,
        size: PageSize,
    ) -> Result<JournalPage, ReadError> {
        let requests = &self.core.requests;
        requests.journal_page(run, generation, from, size).await
    }

    /// Passes the records of a generation of a run, by default the latest, on in order, until
    /// `visit` breaks, and reads them in pages. Returns the row of the generation.
    pub async fn visit_journal(
        &self,
        run: &RunId,
        generation: Option<Generation>,
        visit: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<RunRow, ReadError> {
        let requests = &self.core.requests;
        requests.visit_journal(run, generation, visit).await
    }

    /// Returns the whole journal of a run.
    pub async fn journal(&self, run: &RunId) -> Result<Vec<Entry>, ReadError> {
        let journal = self.core.requests.journal(run, None).await;
        journal.map(|(_, journal)| journal)
    }

    /// Returns the first record of a run for which `is_wanted` holds.
    pub async fn find_record(
        &self,
        run: &RunId,
        is_wanted: impl FnMut(&Body) -> bool,
    ) -> Result<Option<Entry>, ReadError> {
        self.core.requests.find_record(run, is_wanted).await
    }

    /// Returns why a generation of a run, by default the latest, makes no progress.
    pub async fn why(&self, run: &RunId, generation: Option<Generation>) -> Result<Why, ReadError> {
        self.core.requests.why(run, generation).await
    }

    /// Returns a page of the list of runs.
    pub async fn list(&self, query: ListQuery) -> Result<ListPage, Unavailable> {
        Ok(self.core.parts.node.list(query).await?)
    }

    /// Counts the runs that match the filters of a query.
    pub async fn count(&self, query: ListQuery) -> Result<Count, Unavailable> {
        Ok(self.core.parts.node.count(query).await?)
    }

    /// Returns all runs that match a query, across all pages.
    pub async fn listed(&self, mut query: ListQuery) -> Result<Vec<RunId>, Unavailable> {
        query.limit = limits::LIST_PAGE_MAX;
        let mut runs = Vec::new();
        loop {
            let page = self.list(query.clone()).await?;
            runs.extend(page.rows.into_iter().map(|row| row.id));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(runs),
            }
        }
    }

    /// Waits until the run has ended, and returns its last record. `known` is a stream of the run,
    /// if the caller knows one.
    pub async fn ended(
        &self,
        run: &RunId,
        known: Option<StreamNumber>,
    ) -> Result<Record, ReadError> {
        self.core.requests.ended(run, known).await
    }

    /// Tails the records of a generation of a run, by default the latest.
    pub async fn records(
        &self,
        run: &RunId,
        generation: Option<Generation>,
        from: RecordNumber,
    ) -> Result<Records, ReadError> {
        self.core.requests.records(run, generation, from).await
    }

    /// Pauses, resumes, cancels, terminates, restarts, recovers or deletes a run.
    pub async fn control(
        &self,
        run: &RunId,
        control: Control,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let verb = Verb::Control(run.clone(), control);
        self.core.controller.perform(verb, origin).await
    }

    /// Settles an operation that has no result.
    pub async fn settle(
        &self,
        run: &RunId,
        location: &Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let verb = Verb::Settle(run.clone(), location.clone(), settlement);
        self.core.controller.perform(verb, origin).await
    }

    /// Revives a run as a new generation.
    pub async fn revive(
        &self,
        run: &RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let verb = Verb::Revive(run.clone(), revival);
        self.core.controller.perform(verb, origin).await
    }

    /// Starts another run from a point of a run. The outcome is about the new run.
    pub async fn fork(&self, fork: ForkRun, origin: RequestOrigin) -> Result<Done, ControlError> {
        self.core.controller.perform(Verb::Fork(fork), origin).await
    }

    /// Creates a run with the records that another store has exported. If it has not ended, it
    /// continues.
    pub async fn import(&self, import: ImportRun) -> Result<Done, ControlError> {
        self.core.controller.import(import).await
    }

    /// Applies a verb to many runs, and reports the outcome for each as it is known.
    pub async fn bulk(
        &self,
        runs: Vec<RunId>,
        control: Control,
        origin: RequestOrigin,
        each: impl FnMut(BulkProgress, RunId, Result<Done, ControlError>),
    ) {
        let controller = &self.core.controller;
        controller.bulk(runs, control, origin, each).await;
    }

    /// Deletes the finished runs whose retention has expired, and returns their ids.
    pub async fn apply_retention(&self) -> Result<Vec<RunId>, Unavailable> {
        Ok(self.core.controller.apply_retention().await?)
    }

    /// Adds a worker. Runs that waited for one are executed. The workflows it describes are kept in
    /// the catalog, so that runs can be started while no worker is connected.
    ///
    /// # Errors
    /// If the store fails, or the engine shuts down.
    pub async fn offer(&self, worker: Arc<dyn Worker>) -> Result<Offered, OfferError> {
        let offered = self.core.parts.workers.offer(&worker).await?;
        self.look_for_runs();
        Ok(offered)
    }

    /// Looks for runs that are ready and have no executor, because a worker was added or has room
    /// again.
    pub fn look_for_runs(&self) {
        self.core.recovery.recover_in_background();
    }

    /// Returns every workflow that can be started, by name.
    pub async fn workflows(&self) -> Result<Vec<KnownWorkflow>, Unavailable> {
        self.core.parts.workers.known().await
    }

    /// Returns the streams of users.
    #[must_use]
    pub fn streams(&self) -> Streams {
        self.core.streams.clone()
    }

    /// Subscribes to the emissions of workflows.
    #[must_use]
    pub fn emissions(&self) -> Emissions {
        Feed {
            receiver: self.core.parts.post_commit.emissions.subscribe(),
            items: "emissions",
        }
    }

    /// Subscribes to the ends of runs.
    #[must_use]
    pub fn endings(&self) -> Endings {
        Feed {
            receiver: self.core.parts.post_commit.endings.subscribe(),
            items: "ends of runs",
        }
    }

    /// Returns a run that has ended. `None` if it was deleted since, or its journal is too large
    /// for this node.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn ended_run(&self, ending: Ending) -> Result<Option<EndedRun>, Unavailable> {
        let (node, Ending(stream)) = (&self.core.parts.node, ending);
        let head = node.head(stream).await?;
        let Some((run, generation)) = head.and_then(|head| head.name.run()) else {
            return Ok(None);
        };
        let journal = node.read_whole(stream).await?;
        Ok(journal.map(|journal| EndedRun {
            run,
            generation,
            journal,
        }))
    }

    /// Checks whether requests can be served: the engine is open, and its store accepts writes.
    ///
    /// # Errors
    /// The reason, if not.
    pub fn ready(&self) -> Result<(), Unavailable> {
        self.core.parts.committer.check_open()?;
        self.core.parts.watchers.check_open()
    }

    /// Completes when the store accepts no writes until it is opened again.
    pub async fn store_ended(&self) -> StoreError {
        self.core.parts.watchers.store_ended().await
    }

    /// Counters since the engine was opened.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (hot_runs, timers_near) = (self.hot_runs(), self.core.timers.queue.len());
        let counters = &self.core.parts.post_commit.counters;
        counters.stats(hot_runs, timers_near)
    }

    /// Returns how commits were grouped into batches since the engine was opened.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.core.parts.committer.grouping()
    }

    /// Returns the number of runs in memory.
    #[must_use]
    pub fn hot_runs(&self) -> usize {
        self.core.parts.resident.len()
    }

    /// Time, randomness and tasks of the engine.
    #[must_use]
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        self.core.parts.node.runtime.clone()
    }

    /// Returns whether the engine is shutting down or has shut down.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.core.parts.node.is_closing()
    }

    /// Completes when the engine begins to shut down.
    pub async fn closing(&self) {
        let tasks = &self.core.parts.node.tasks;
        tasks.until_closing(std::future::pending::<()>()).await;
    }

    /// Shuts the engine down.
    pub async fn shutdown(&self) {
        shutdown::shutdown(&self.core).await;
    }
}
