//! Machines, and the processes that run on them one after the other. A process that crashes loses everything but what
//! the store holds; the machine starts another one after a while.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use everstep::Engine;
use everstep_model::{NodeId, Timestamp};
use everstep_store::Clock as _;

use super::bus::SimBus;
use super::faults::FaultKind;
use super::network::serve;
use super::runtime::NodeRuntime;
use super::store::SimStore;
use super::world::World;
use crate::executor::Group;
use crate::rng::Rng;
use crate::workload;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A machine.
pub struct Machine {
    /// Which one.
    pub index: usize,
    /// How wrong its clock is, in milliseconds.
    pub(crate) offset: Arc<AtomicI64>,
    /// Until when the store is out of its reach.
    cut_off_until: Arc<AtomicU64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    starts: u64,
    process: Option<Arc<Process>>,
    engine: Option<Engine>,
    /// What serves the engine to workers, if it is served.
    server: Option<Router>,
}

/// One life of a machine's process, or of a worker's.
pub(crate) struct Process {
    /// None if it is a worker: its keeper starts it again.
    pub(crate) machine: Option<usize>,
    pub(crate) name: String,
    pub(crate) group: Group,
    pub(super) offset: Arc<AtomicI64>,
    /// The latest time its clock has shown, in milliseconds.
    pub(super) shown: Arc<AtomicU64>,
    cut_off_until: Arc<AtomicU64>,
    /// The ids under which it said good-bye. An engine that could not start has done so, and another one is tried under another
    /// id.
    retired: Mutex<BTreeSet<NodeId>>,
    node: AtomicU64,
}

impl Process {
    /// A worker. Its clock may be wrong like every clock.
    pub(super) fn of_worker(world: &World, name: String, offset: i64) -> Self {
        Self {
            machine: None,
            name,
            group: world.executor.group(),
            offset: Arc::new(AtomicI64::new(offset)),
            shown: Arc::default(),
            cut_off_until: Arc::default(),
            retired: Mutex::default(),
            node: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_alive(&self, world: &World) -> bool {
        world.executor.is_alive(self.group)
    }

    pub(crate) fn is_cut_off(&self, world: &World) -> bool {
        world.executor.now() < self.cut_off_until.load(Ordering::Relaxed)
    }

    /// The latest time that its clock has shown so far.
    pub(crate) fn clock_shown(&self) -> Timestamp {
        Timestamp::from_millis(self.shown.load(Ordering::Relaxed))
    }

    /// Whether the engine of this id said good-bye.
    pub(crate) fn has_retired(&self, node: Option<NodeId>) -> bool {
        node.is_some_and(|node| self.retired().contains(&node))
    }

    pub(crate) fn retire(&self, node: NodeId) {
        self.retired().insert(node);
    }

    fn retired(&self) -> MutexGuard<'_, BTreeSet<NodeId>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id under which its engine is known to the store.
    pub(crate) fn node(&self) -> Option<NodeId> {
        let node = self.node.load(Ordering::Relaxed);
        (node != 0).then_some(NodeId(node))
    }

    pub(crate) fn is_known_as(&self, node: NodeId) {
        self.node.store(node.0, Ordering::Relaxed);
    }

    /// The process ends here and now. Its machine starts another one later.
    pub(crate) fn crash(&self, world: &Arc<World>, why: &str) {
        if !self.is_alive(world) {
            return;
        }
        world.say(&self.name, || format!("CRASH {why}"));
        world.executor.end(self.group);
        let machine = self.machine.and_then(|index| world.machines.get(index));
        let Some(machine) = machine else {
            return;
        };
        machine.forget(world);
        let mut rng = Rng::new(world.plan.seed ^ world.next_call(), 4);
        let mut down = Duration::from_millis(rng.any(&[0, 100, 2_000, 8_000, 25_000]));
        if let Some(case) = &world.plan.case {
            let is_alone = world
                .machines
                .iter()
                .all(|machine| machine.process().is_none());
            down = case.downtime(is_alone);
        }
        machine.start_after(world, down);
    }
}

impl Machine {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            index,
            offset: Arc::default(),
            cut_off_until: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Starts a process after a while.
    pub(crate) fn start_after(&self, world: &Arc<World>, after: Duration) {
        let (index, shared) = (self.index, world.clone());
        world.executor.spawn(world.network, async move {
            shared.sleep(after).await;
            if let Some(machine) = shared.machines.get(index) {
                machine.start(&shared);
            }
        });
    }

    /// Starts a process, unless one runs.
    pub fn start(&self, world: &Arc<World>) {
        let mut state = self.state();
        if state.process.is_some() {
            return;
        }
        state.starts += 1;
        let process = Arc::new(Process {
            machine: Some(self.index),
            name: format!("node {}.{}", self.index, state.starts),
            group: world.executor.group(),
            offset: self.offset.clone(),
            shown: Arc::default(),
            cut_off_until: self.cut_off_until.clone(),
            retired: Mutex::default(),
            node: AtomicU64::new(0),
        });
        state.process = Some(process.clone());
        let seed = Rng::new(world.plan.seed, 1_000 * state.starts + self.index as u64).number();
        drop(state);
        let shared = world.clone();
        world
            .executor
            .spawn(process.group, open(shared, process.clone(), seed));
    }

    fn opened(&self, process: &Arc<Process>, engine: Engine, server: Option<Router>) {
        let mut state = self.state();
        if state
            .process
            .as_ref()
            .is_some_and(|p| Arc::ptr_eq(p, process))
        {
            state.engine = Some(engine);
            state.server = server;
        }
    }

    /// What serves the engine to workers, and the process it is in.
    pub(super) fn server(&self) -> Option<(Arc<Process>, Router)> {
        let state = self.state();
        Some((state.process.clone()?, state.server.clone()?))
    }

    /// Forgets the process that has ended. Dropping an engine may do anything, so it happens in a task of its own.
    fn forget(&self, world: &World) {
        let mut state = self.state();
        state.process = None;
        let gone = (state.engine.take(), state.server.take());
        world
            .executor
            .spawn(world.network, async move { drop(gone) });
    }

    pub(crate) fn process(&self) -> Option<Arc<Process>> {
        self.state().process.clone()
    }

    /// The engine, if one is open.
    pub fn engine(&self) -> Option<Engine> {
        self.state().engine.clone()
    }

    /// The store is in its reach again.
    pub(crate) fn is_in_reach(&self) {
        self.cut_off_until.store(0, Ordering::Relaxed);
    }

    pub(crate) fn cut_off(&self, until: u64) {
        self.cut_off_until.fetch_max(until, Ordering::Relaxed);
    }

    /// Ends the process in order, and starts another one.
    pub(crate) async fn restart(&self, world: &Arc<World>) {
        let Some(process) = self.process() else {
            return;
        };
        world.say(&process.name, || "shuts down".to_owned());
        world
            .request(self.index, |engine| async move { engine.shutdown().await })
            .await;
        if process.is_alive(world) {
            world.say(&process.name, || "is gone".to_owned());
            world.executor.end(process.group);
            self.forget(world);
            self.start_after(world, Duration::from_millis(200));
        }
    }

    /// Ends everything, so that nothing keeps the world in memory.
    pub(crate) fn destroy(&self, world: &World) {
        if let Some(process) = self.process() {
            world.executor.end(process.group);
        }
        self.forget(world);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens an engine; if the store is out of reach, tries again, as whoever watches over processes does.
async fn open(world: Arc<World>, process: Arc<Process>, seed: u64) {
    for attempt in 0.. {
        let seed = seed ^ (attempt << 40);
        let runtime = Arc::new(NodeRuntime::new(world.executor.clone(), &process, seed));
        world.say(&process.name, || {
            format!("starts, its clock says {}", runtime.now())
        });
        let builder = Engine::on_store(Arc::new(SimStore::new(world.clone(), process.clone())))
            .bus(Arc::new(SimBus::new(world.clone(), process.clone())))
            .runtime(runtime)
            .settings(world.plan.settings.clone());
        let builder = match (&world.story, world.plan.served) {
            (Some((story, outside)), _) => story.define(builder, outside),
            (None, None) => workload::register(builder, workload::Env::live(&world, &process)),
            (None, Some(_)) => builder,
        };
        match builder.start().await {
            Ok(engine) => {
                let machine = process.machine.and_then(|index| world.machines.get(index));
                if let Some(machine) = machine {
                    let server = world.plan.served.map(|ttl| serve(&engine, ttl));
                    machine.opened(&process, engine, server);
                }
                return world.say(&process.name, || "is up".to_owned());
            }
            Err(error) => {
                world.say(&process.name, || format!("could not start: {error}"));
                world.sleep(Duration::from_millis(700)).await;
            }
        }
    }
}

impl World {
    /// Has a machine do something for a client. None if it cannot be known what became of it.
    pub async fn request<T, Fut>(
        self: &Arc<Self>,
        machine: usize,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<T>
    where
        T: Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        let receive = self.in_process(machine, ask)?;
        let patience = std::pin::pin!(self.executor.sleep(PATIENCE));
        let answer = match futures_util::future::select(receive, patience).await {
            futures_util::future::Either::Left((answer, _)) => answer.ok(),
            futures_util::future::Either::Right(_) => None,
        };
        answer.filter(|_| !self.strikes(FaultKind::ReplyLost, 300))
    }

    /// Has the process of a machine do something, however long that takes. None if it dies before.
    pub(crate) async fn done_by<T, Fut>(
        self: &Arc<Self>,
        machine: usize,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<T>
    where
        T: Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        self.in_process(machine, ask)?.await.ok()
    }

    fn in_process<T, Fut>(
        self: &Arc<Self>,
        machine: usize,
        ask: impl FnOnce(Engine) -> Fut,
    ) -> Option<tokio::sync::oneshot::Receiver<T>>
    where
        T: Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        let machine = self.machines.get(machine)?;
        let (process, engine) = (machine.process()?, machine.engine()?);
        let (send, receive) = tokio::sync::oneshot::channel();
        let asked = ask(engine);
        self.executor.spawn(process.group, async move {
            let _ = send.send(asked.await);
        });
        Some(receive)
    }
}
