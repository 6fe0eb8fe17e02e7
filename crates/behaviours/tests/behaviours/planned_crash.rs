//! A test tool: a process crashes around one of its commits, and a successor continues from the
//! store.
//!
//! [`PlannedCrash`] is the store of that process: its commits take effect one by one, up to the one
//! at which it crashes. [`run_case`] runs a case through such a crash. Two tools run a case with a
//! crash at each of its commits: `crash_after_commit.rs` takes any scenario, `crash_points.rs` one
//! workflow and the records that are put into its inbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep::testing::VirtualRuntime;
use everstep::{Engine, EngineBuilder, Settings, millis};
use everstep_store::{LocalBus, MemoryStore, Store};
use everstep_store_testkit::{Fault, Faulty};
use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// Longer than any case takes.
const TIMEOUT: Duration = Duration::from_secs(1_200);

/// When a process crashes. Commits are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CrashPlan {
    /// The process does not crash.
    Never,
    /// After this commit takes effect. The process does not receive the outcome.
    After(u64),
    /// At this commit, which does not take effect.
    At(u64),
}

impl CrashPlan {
    /// Every crash around this number of commits.
    pub(crate) fn around(commits: u64) -> Vec<Self> {
        let both = |commit| [Self::After(commit), Self::At(commit)];
        (0..commits).flat_map(both).collect()
    }

    fn fault(self, commit: u64) -> Fault {
        match self {
            Self::After(last) if commit == last => Fault::HangAfter,
            Self::After(last) | Self::At(last) if commit >= last => Fault::HangBefore,
            Self::Never | Self::After(_) | Self::At(_) => Fault::None,
        }
    }
}

/// The planned crash of a process, and its number of commits.
pub(crate) struct PlannedCrash {
    plan: CrashPlan,
    commits: AtomicU64,
    crashed: Notify,
}

impl PlannedCrash {
    pub(crate) fn new(plan: CrashPlan) -> Arc<Self> {
        Arc::new(Self {
            plan,
            commits: AtomicU64::new(0),
            crashed: Notify::new(),
        })
    }

    /// The store as the process sees it.
    pub(crate) fn over(self: &Arc<Self>, store: Arc<dyn Store>) -> Arc<Faulty> {
        let (own, hangs) = (self.clone(), self.clone());
        let faulty = Faulty::over(store, move |commit| {
            own.commits.fetch_add(1, Ordering::SeqCst);
            own.plan.fault(commit)
        });
        Arc::new(
            faulty
                .one_by_one()
                .on_hang(move || hangs.crashed.notify_one()),
        )
    }

    /// Returns when the process has crashed.
    pub(crate) async fn crashed(&self) {
        self.crashed.notified().await;
    }
}

/// The kind of store that a case uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Medium {
    Memory,
    Disk,
}

impl Medium {
    pub(crate) fn all() -> Vec<Self> {
        vec![Self::Memory, Self::Disk]
    }
}

/// The store of a case. Each process opens it again.
enum Storage {
    Memory(MemoryStore),
    Directory(tempfile::TempDir),
}

impl Storage {
    fn new(medium: Medium, process: &Arc<VirtualRuntime>) -> Self {
        match medium {
            Medium::Memory => Self::Memory(MemoryStore::new(process.clone())),
            Medium::Disk => Self::Directory(tempfile::tempdir().unwrap()),
        }
    }

    fn open(&self, process: &Arc<VirtualRuntime>) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Directory(directory) => {
                let clock = process.clone();
                let opened = everstep_store_embedded::EmbeddedStore::open(directory.path(), clock);
                Arc::new(opened.unwrap())
            }
        }
    }
}

/// The process of a case, and its environment.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    /// The store without the planned crash.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) process: Arc<VirtualRuntime>,
    pub(crate) bus: LocalBus,
}

/// A case: what happens, and the checks at the end.
pub(crate) struct CrashCase<Define, Drive> {
    /// Registers the workflows.
    pub(crate) define: Define,
    /// Drives the runs to their end and checks them. It starts again from the beginning after a
    /// crash.
    pub(crate) drive: Drive,
    /// The downtime after the crash.
    pub(crate) downtime: Duration,
}

/// Runs a case through a crash. Returns the number of commits of the first process.
pub(crate) async fn run_case<Define, Drive>(
    case: &CrashCase<Define, Drive>,
    medium: Medium,
    plan: CrashPlan,
) -> u64
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Drive: AsyncFn(&Scene),
{
    let (planned_crash, bus) = (PlannedCrash::new(plan), LocalBus::new());
    let process = Arc::new(VirtualRuntime::new(7));
    let storage = Storage::new(medium, &process);
    let survived =
        run_until_crash(&planned_crash, case, storage.open(&process), &process, &bus).await;
    let commits = planned_crash.commits.load(Ordering::SeqCst);
    if let Some(scene) = survived {
        match plan {
            CrashPlan::Never => end(scene).await,
            // It reached the end before the crash, and writes nothing more.
            CrashPlan::After(_) | CrashPlan::At(_) => process.crash().await,
        }
        return commits;
    }
    process.crash().await;
    tokio::time::sleep(case.downtime).await;
    let process = Arc::new(process.successor());
    let store = storage.open(&process);
    let scene = open(case, store.clone(), store, &process, &bus).await;
    let driven = tokio::time::timeout(TIMEOUT, (case.drive)(&scene)).await;
    assert!(driven.is_ok(), "{plan:?}: the case does not continue");
    end(scene).await;
    commits
}

/// Runs a case in a process with a planned crash. Returns `None` if it crashed.
async fn run_until_crash<Define, Drive>(
    planned_crash: &Arc<PlannedCrash>,
    case: &CrashCase<Define, Drive>,
    store: Arc<dyn Store>,
    process: &Arc<VirtualRuntime>,
    bus: &LocalBus,
) -> Option<Scene>
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Drive: AsyncFn(&Scene),
{
    let driven = async {
        let crashing = planned_crash.over(store.clone());
        let scene = open(case, crashing, store, process, bus).await;
        (case.drive)(&scene).await;
        scene
    };
    match select(Box::pin(driven), Box::pin(planned_crash.crashed())).await {
        Either::Left((scene, _)) => Some(scene),
        Either::Right(_) => None,
    }
}

/// Checks that nothing is left to deliver, and ends the process.
async fn end(scene: Scene) {
    tokio::time::sleep(millis(100)).await;
    let left = scene.store.outbox(None, usize::MAX).await.unwrap();
    assert!(left.is_empty(), "not delivered: {left:?}");
    scene.engine.shutdown().await;
    scene.process.crash().await;
}

/// Opens a process on a store.
async fn open<Define, Drive>(
    case: &CrashCase<Define, Drive>,
    seen: Arc<dyn Store>,
    store: Arc<dyn Store>,
    process: &Arc<VirtualRuntime>,
    bus: &LocalBus,
) -> Scene
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
{
    let settings = Settings {
        lease_ttl: millis(30),
        sweep_interval: millis(20),
        ..Settings::default()
    };
    let builder = Engine::on_store(seen)
        .bus(Arc::new(bus.clone()))
        .runtime(process.clone())
        .settings(settings);
    Scene {
        engine: (case.define)(builder).start().await.unwrap(),
        store,
        process: process.clone(),
        bus: bus.clone(),
    }
}
