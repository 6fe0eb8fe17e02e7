//! A test tool: the process is thrown away around every single commit of a run, and a successor goes on from the store.
//!
//! A case is run once undisturbed, to count its commits. Then it is run again for each of them: once the process dies when
//! the commit has taken effect, without learning of it, and once when it would make the next one, with everything done
//! that it does in between.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use everstep::testing::{JournalView, VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Body, Ctx, Engine, Generation, Options, Record, Result, RunHandle, RunId, RunStatus,
    Settings, millis,
};
use everstep_model::StreamName;
use everstep_store::{
    Author, Bus, Clock, Commit, Hint, LeaseChange, LocalBus, MemoryStore, Store, StreamRef, Target,
};
use everstep_store_testkit::{Fault, Faulty};

use crate::support::{Seen, json};

/// How often a run is looked at before it is said never to end.
const LOOKS_MAX: u32 = 5_000;
/// How long it is left alone in between.
const LOOK_EVERY: Duration = millis(5);

/// How many cases are run at once.
const THREADS: usize = 8;

/// What is done outside the run, as the outside sees it; the journal is not asked.
pub(crate) type Effects = Seen<String>;

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Death {
    /// It does not.
    Never,
    /// When this commit has taken effect; it never learns that.
    After(u64),
    /// When it makes this commit, which does not take effect.
    At(u64),
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) death: Death,
    pub(crate) journal: JournalView,
    pub(crate) status: RunStatus,
    pub(crate) effects: Vec<String>,
}

/// Something that is put into the run's inbox when its journal first shows a line.
type Reaction = (&'static str, Body);

/// A workflow `w`, and what is done to its run `r` from outside.
pub(crate) struct CrashPoints<C> {
    code: C,
    options: Options,
    reactions: Vec<Reaction>,
}

impl<C, Fut> CrashPoints<C>
where
    C: Fn(Ctx<AnyEvent>, Effects) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<u32>> + Send + 'static,
{
    pub(crate) fn of(code: C) -> Self {
        Self {
            code,
            options: Options::new(),
            reactions: Vec::new(),
        }
    }

    pub(crate) fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Puts this into the inbox when the journal first shows that line, as [`JournalView::lines`] writes it.
    pub(crate) fn when(mut self, line: &'static str, body: impl Into<Body>) -> Self {
        self.reactions.push((line, body.into()));
        self
    }

    /// Runs the case undisturbed and with every death, on each store.
    pub(crate) fn check(self, check: impl Fn(&Ended) + Sync) {
        println!("in memory");
        self.check_on(
            |clock| {
                let store = MemoryStore::new(clock);
                move || store.clone()
            },
            &check,
        );
        #[cfg(feature = "embedded")]
        {
            println!("embedded");
            self.check_on(
                |clock| {
                    let directory = tempfile::tempdir().unwrap();
                    move || {
                        let path = directory.path();
                        let store =
                            everstep_store_embedded::EmbeddedStore::open(path, clock.clone());
                        store.unwrap()
                    }
                },
                &check,
            );
        }
    }

    fn check_on<S: Store, O: Fn() -> S>(
        &self,
        place: impl Fn(Arc<dyn Clock>) -> O + Sync,
        check: &(impl Fn(&Ended) + Sync),
    ) {
        let (undisturbed, commits) = virtual_time(self.run(&place, Death::Never));
        check(&undisturbed);
        let deaths: Vec<Death> = (0..commits)
            .flat_map(|commit| [Death::After(commit), Death::At(commit)])
            .collect();
        // Most of the time a store on disk is waited for, so several cases go on at once.
        let at_once = deaths.len().div_ceil(THREADS);
        std::thread::scope(|scope| {
            for deaths in deaths.chunks(at_once) {
                let (place, expected) = (&place, undisturbed.status);
                scope.spawn(move || {
                    for death in deaths {
                        let (ended, _) = virtual_time(self.run(place, *death));
                        assert_eq!(ended.status, expected, "{death:?}");
                        check(&ended);
                    }
                });
            }
        });
    }

    async fn run<S: Store, O: Fn() -> S>(
        &self,
        place: &impl Fn(Arc<dyn Clock>) -> O,
        death: Death,
    ) -> (Ended, u64) {
        let mut world = World::new(death);
        let open = place(world.process.clone());
        let ended = world.drive(self, &open).await;
        world.process.crash().await;
        (ended, world.schedule.commits.load(Ordering::SeqCst))
    }

    async fn boot(&self, world: &World, store: Arc<dyn Store>) -> Engine {
        let (code, effects) = (self.code.clone(), world.effects.clone());
        let settings = Settings {
            lease_ttl: millis(30),
            sweep_interval: millis(20),
            ..Settings::default()
        };
        Engine::on_store(store)
            .bus(Arc::new(world.bus.clone()))
            .runtime(world.process.clone())
            .settings(settings)
            .function_with("w", self.options, move |ctx, (): ()| {
                code(ctx, effects.clone())
            })
            .start()
            .await
            .unwrap()
    }
}

/// Which commits fail.
struct Schedule {
    death: Death,
    commits: AtomicU64,
    /// Whether the process is to die now.
    dying: AtomicBool,
    died: AtomicBool,
}

impl Schedule {
    fn fault(&self) -> Fault {
        let call = self.commits.fetch_add(1, Ordering::SeqCst);
        if self.died.load(Ordering::SeqCst) {
            return Fault::None;
        }
        let fault = match self.death {
            Death::After(commit) if call == commit => Fault::After,
            Death::After(commit) | Death::At(commit) if call >= commit => Fault::Before,
            Death::Never | Death::After(_) | Death::At(_) => Fault::None,
        };
        if fault != Fault::None {
            self.dying.store(true, Ordering::SeqCst);
        }
        fault
    }
}

/// A process, and what is there besides it.
struct World {
    process: Arc<VirtualRuntime>,
    bus: LocalBus,
    effects: Effects,
    schedule: Arc<Schedule>,
}

impl World {
    fn new(death: Death) -> Self {
        Self {
            process: Arc::new(VirtualRuntime::new(7)),
            bus: LocalBus::new(),
            effects: Effects::new(),
            schedule: Arc::new(Schedule {
                death,
                commits: AtomicU64::new(0),
                dying: AtomicBool::new(false),
                died: AtomicBool::new(false),
            }),
        }
    }

    /// Drives the run to its end, through the death of its process. Each process opens the store anew.
    async fn drive<S, C, Fut>(&mut self, case: &CrashPoints<C>, open: &impl Fn() -> S) -> Ended
    where
        S: Store,
        C: Fn(Ctx<AnyEvent>, Effects) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<u32>> + Send + 'static,
    {
        let mut reactions = case.reactions.clone();
        for _ in 0..2 {
            let schedule = self.schedule.clone();
            let store = Arc::new(Faulty::new(open(), move |_| schedule.fault()));
            let engine = case.boot(self, store.clone()).await;
            if let Some(ended) = self.watch(&engine, &store, &mut reactions).await {
                return ended;
            }
            self.process.crash().await;
            self.schedule.died.store(true, Ordering::SeqCst);
            self.process = Arc::new(self.process.successor());
        }
        panic!("{:?}: it died twice", self.schedule.death);
    }

    /// Watches the run until it has ended, or its process is to die.
    async fn watch(
        &self,
        engine: &Engine,
        store: &Faulty<impl Store>,
        reactions: &mut Vec<Reaction>,
    ) -> Option<Ended> {
        let mut run: Option<RunHandle> = None;
        for _ in 0..LOOKS_MAX {
            if self.schedule.dying.swap(false, Ordering::SeqCst) {
                return None;
            }
            match &run {
                None => {
                    // A committer whose store fails tries for a while; a process that is to die does not get so far.
                    let starting = engine.start_by_name("w", json(&())).id("r");
                    let started = tokio::time::timeout(LOOK_EVERY, starting.into_future()).await;
                    run = started.ok().and_then(Result::ok);
                }
                Some(run) => {
                    if let Some(ended) = self.look(run, store, reactions).await {
                        return Some(ended);
                    }
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let why = run.unwrap().why().await.unwrap();
        panic!("{:?}: the run never ended: {why}", self.schedule.death);
    }

    async fn look(
        &self,
        run: &RunHandle,
        store: &Faulty<impl Store>,
        reactions: &mut Vec<Reaction>,
    ) -> Option<Ended> {
        let status = run.status().await.ok()?;
        let journal = JournalView::new(run.journal().await.ok()?);
        let lines = journal.lines();
        if let Some((line, body)) = reactions.first()
            && lines.iter().any(|known| known == line)
        {
            let body = body.clone();
            append_to_inbox(store.inner(), &*self.process, &self.bus, body).await;
            reactions.remove(0);
        }
        status.is_terminal().then(|| Ended {
            death: self.schedule.death,
            journal,
            status,
            effects: self.effects.take(),
        })
    }
}

/// Appends to the inbox of run `r`, past the engine.
pub(crate) async fn append_to_inbox(
    store: &dyn Store,
    clock: &dyn Clock,
    bus: &LocalBus,
    body: Body,
) {
    let name = StreamName::of_run(&RunId::new("r").unwrap(), Generation::FIRST);
    let head = store.head(StreamRef::Name(name)).await.unwrap().unwrap();
    let target = Target::Stream(head.number);
    let mut commit = Commit::new(target, Author::Inbox, clock.now());
    if let Some(status) = body.terminal() {
        commit.status = Some(status);
        commit.close = true;
        commit.lease = LeaseChange::Revoke;
    }
    commit.ready = Some(body.terminal().is_none());
    commit.records.push(Record {
        time: clock.now(),
        body,
    });
    store.commit(&[commit]).await.unwrap();
    bus.publish(Hint::Grew(head.number));
    bus.publish(Hint::Ready(head.number));
}
