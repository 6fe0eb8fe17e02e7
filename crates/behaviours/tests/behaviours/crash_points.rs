//! One workflow whose process crashes around every commit of its run, while records are put into
//! its inbox.
//!
//! A case runs once without a crash, to count its commits. Then it runs again for each of them:
//! once with a crash after the commit has taken effect, before the process receives the outcome,
//! and once with a crash at the next commit.

use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;

use everstep::journal::{Body, Generation, Record};
use everstep::testing::{JournalView, virtual_time};
use everstep::{
    AnyEvent, Ctx, EngineBuilder, Options, Result, RunHandle, RunId, RunStatus, Workflows, millis,
};
use everstep_model::StreamName;
use everstep_store::{Bus, Clock, DeliverCommit, Hint, InboxLease, LocalBus, Store, StreamRef};

use crate::planned_crash::{CrashCase, CrashPlan, Medium, Scene, run_case};
use crate::support::{Seen, json};

/// The number of checks after which a run counts as endless.
const LOOKS_MAX: u32 = 5_000;
/// The interval of the checks.
const CHECK_INTERVAL: Duration = millis(5);

/// How many cases are run at once.
const THREADS: usize = 8;

/// The external effects of the run, independent of its journal.
pub(crate) type Effects = Seen<String>;

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) plan: CrashPlan,
    pub(crate) journal: JournalView,
    pub(crate) status: RunStatus,
    pub(crate) effects: Vec<String>,
}

/// Something that is put into the run's inbox when its journal first shows a line.
type Reaction = (&'static str, Body);

/// A workflow `w`, and the requests to its run `r`.
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

    /// Puts this into the inbox when the journal first shows that line, as [`JournalView::lines`]
    /// writes it.
    pub(crate) fn when(mut self, line: &'static str, body: impl Into<Body>) -> Self {
        self.reactions.push((line, body.into()));
        self
    }

    /// Runs the case without a crash and with every crash, on each store.
    pub(crate) fn check(self, check: impl Fn(&Ended) + Sync) {
        for medium in Medium::all() {
            println!("{medium:?}");
            let (undisturbed, commits) = self.run(medium, CrashPlan::Never);
            check(&undisturbed);
            let plans = CrashPlan::around(commits);
            // A store on disk mostly waits, so several cases run concurrently.
            let at_once = plans.len().div_ceil(THREADS);
            std::thread::scope(|scope| {
                for plans in plans.chunks(at_once) {
                    let (case, check, expected) = (&self, &check, undisturbed.status);
                    scope.spawn(move || {
                        for plan in plans {
                            let (ended, _) = case.run(medium, *plan);
                            assert_eq!(ended.status, expected, "{plan:?}");
                            check(&ended);
                        }
                    });
                }
            });
        }
    }

    /// Drives the run to its end, through the crash of its process. Returns the number of commits
    /// of that process.
    fn run(&self, medium: Medium, plan: CrashPlan) -> (Ended, u64) {
        let effects = Effects::new();
        let reactions = Mutex::new(self.reactions.clone());
        let ended = Mutex::new(None);
        let case = CrashCase {
            define: |builder: EngineBuilder| {
                let (code, effects) = (self.code.clone(), effects.clone());
                builder.workflows(Workflows::new().function_with(
                    "w",
                    self.options,
                    move |ctx, (): ()| code(ctx, effects.clone()),
                ))
            },
            drive: async |scene: &Scene| {
                let run = scene.engine.start_by_name("w", json(&())).id("r");
                let (status, journal) = watch(scene, &run.await.unwrap(), &reactions).await;
                let effects = effects.take();
                *ended.lock().unwrap() = Some(Ended {
                    plan,
                    journal,
                    status,
                    effects,
                });
            },
            downtime: Duration::ZERO,
        };
        let commits = virtual_time(run_case(&case, medium, plan));
        let ended = ended.lock().unwrap().take();
        (ended.expect("the case was driven to its end"), commits)
    }
}

/// Watches the run until it has ended, and appends the planned records to its inbox.
async fn watch(
    scene: &Scene,
    run: &RunHandle,
    reactions: &Mutex<Vec<Reaction>>,
) -> (RunStatus, JournalView) {
    for _ in 0..LOOKS_MAX {
        let status = run.status().await.unwrap();
        let journal = JournalView::new(run.journal().await.unwrap());
        if let Some(body) = next_reaction(reactions, &journal) {
            append_to_inbox(&*scene.store, &*scene.process, &scene.bus, body).await;
        }
        if status.is_terminal() {
            return (status, journal);
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    panic!("the run never ended: {}", run.why().await.unwrap());
}

/// Returns the records to append to the inbox now. Each is appended once, over all processes.
fn next_reaction(reactions: &Mutex<Vec<Reaction>>, journal: &JournalView) -> Option<Body> {
    let mut reactions = reactions.lock().unwrap();
    let (line, _) = reactions.first()?;
    let is_due = journal.lines().iter().any(|known| known == line);
    is_due.then(|| reactions.remove(0).1)
}

/// Appends to the inbox of run `r` in the store, bypassing the engine.
pub(crate) async fn append_to_inbox(
    store: &dyn Store,
    clock: &dyn Clock,
    bus: &LocalBus,
    body: Body,
) {
    let name = StreamName::of_run(&RunId::new("r").unwrap(), Generation::FIRST);
    let head = store.head(StreamRef::Name(name)).await.unwrap().unwrap();
    let mut commit = DeliverCommit::new(head.number, clock.now());
    if let Some(status) = body.terminal() {
        commit.status = Some(status);
        commit.close = true;
        commit.lease = InboxLease::Revoke;
    }
    commit.ready = Some(body.terminal().is_none());
    commit.records.push(Record {
        time: clock.now(),
        body,
    });
    store.commit(&[commit.into()]).await.unwrap();
    bus.publish(Hint::Grew(head.number));
    bus.publish(Hint::Ready(head.number));
}
