//! A test tool: a process dies around one of its commits, and a successor goes on from the store.
//!
//! [`PlannedCrash`] is that process's store: its commits take effect one by one, up to the one it dies with. [`tell`] tells a tale
//! through such a death. Two ways to tell one for every commit there is are built on it: `crash_after_commit.rs` takes
//! any story, `crash_points.rs` one workflow and what is put into its inbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep::testing::VirtualRuntime;
use everstep::{Engine, EngineBuilder, Settings, millis};
use everstep_store::{LocalBus, MemoryStore, Store};
use everstep_store_testkit::{Fault, Faulty};
use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// Longer than any tale takes.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// When a process crashes. Commits are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Death {
    /// The process does not crash.
    Never,
    /// After this commit takes effect. The process does not receive the outcome.
    After(u64),
    /// At this commit, which does not take effect.
    At(u64),
}

impl Death {
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

/// The death of a process, and the commits it has made.
pub(crate) struct PlannedCrash {
    death: Death,
    commits: AtomicU64,
    struck: Notify,
}

impl PlannedCrash {
    pub(crate) fn new(death: Death) -> Arc<Self> {
        Arc::new(Self {
            death,
            commits: AtomicU64::new(0),
            struck: Notify::new(),
        })
    }

    /// The store as the process sees it.
    pub(crate) fn over(self: &Arc<Self>, store: Arc<dyn Store>) -> Arc<Faulty> {
        let (own, hangs) = (self.clone(), self.clone());
        let faulty = Faulty::over(store, move |commit| {
            own.commits.fetch_add(1, Ordering::SeqCst);
            own.death.fault(commit)
        });
        Arc::new(
            faulty
                .one_by_one()
                .on_hang(move || hangs.struck.notify_one()),
        )
    }

    /// Returns when the process has crashed.
    pub(crate) async fn strikes(&self) {
        self.struck.notified().await;
    }
}

/// The medium of the store of a case.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Medium {
    Memory,
    Disk,
}

impl Medium {
    /// Both, where both are there.
    pub(crate) fn all() -> Vec<Self> {
        vec![Self::Memory, Self::Disk]
    }
}

/// Where the store of a tale lives. Each process opens it anew.
enum Place {
    Memory(MemoryStore),
    Directory(tempfile::TempDir),
}

impl Place {
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

/// A process that a tale is told to, and what is there besides it.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    /// The store itself, where nothing dies.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) process: Arc<VirtualRuntime>,
    pub(crate) bus: LocalBus,
}

/// What happens, and what must be true in the end.
pub(crate) struct CrashCase<Define, Tell> {
    /// Registers the workflows.
    pub(crate) define: Define,
    /// Drives the runs to their end and checks them. It is told again from the beginning after the process died.
    pub(crate) tell: Tell,
    /// How long the machine is down after the process died.
    pub(crate) downtime: Duration,
}

/// Tells a tale through a death; gives how many commits the first process made.
pub(crate) async fn tell<Define, Tell>(
    tale: &CrashCase<Define, Tell>,
    medium: Medium,
    death: Death,
) -> u64
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Tell: AsyncFn(&Scene),
{
    let (planned_crash, bus) = (PlannedCrash::new(death), LocalBus::new());
    let process = Arc::new(VirtualRuntime::new(7));
    let place = Place::new(medium, &process);
    let survived = tell_until(&planned_crash, tale, place.open(&process), &process, &bus).await;
    let commits = planned_crash.commits.load(Ordering::SeqCst);
    if let Some(scene) = survived {
        match death {
            Death::Never => end(scene).await,
            // It saw the end before it died, and writes nothing any more.
            Death::After(_) | Death::At(_) => process.crash().await,
        }
        return commits;
    }
    process.crash().await;
    tokio::time::sleep(tale.downtime).await;
    let process = Arc::new(process.successor());
    let store = place.open(&process);
    let scene = open(tale, store.clone(), store, &process, &bus).await;
    let told = tokio::time::timeout(PATIENCE, (tale.tell)(&scene)).await;
    assert!(told.is_ok(), "{death:?}: it does not go on");
    end(scene).await;
    commits
}

/// Tells a tale to a process that is to die; gives none if it died.
async fn tell_until<Define, Tell>(
    planned_crash: &Arc<PlannedCrash>,
    tale: &CrashCase<Define, Tell>,
    store: Arc<dyn Store>,
    process: &Arc<VirtualRuntime>,
    bus: &LocalBus,
) -> Option<Scene>
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Tell: AsyncFn(&Scene),
{
    let told = async {
        let mortal = planned_crash.over(store.clone());
        let scene = open(tale, mortal, store, process, bus).await;
        (tale.tell)(&scene).await;
        scene
    };
    match select(Box::pin(told), Box::pin(planned_crash.strikes())).await {
        Either::Left((scene, _)) => Some(scene),
        Either::Right(_) => None,
    }
}

/// Nothing is left to deliver when a tale is over.
async fn end(scene: Scene) {
    tokio::time::sleep(millis(100)).await;
    let left = scene.store.outbox(None, usize::MAX).await.unwrap();
    assert!(left.is_empty(), "not delivered: {left:?}");
    scene.engine.shutdown().await;
    scene.process.crash().await;
}

/// A process that sees this of the store.
async fn open<Define, Tell>(
    tale: &CrashCase<Define, Tell>,
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
        engine: (tale.define)(builder).start().await.unwrap(),
        store,
        process: process.clone(),
        bus: bus.clone(),
    }
}
