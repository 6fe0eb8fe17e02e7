//! The state that all parts of a simulation share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep::Workflows;
use everstep_canonical::{Outside, Scenario};
use everstep_model::Timestamp;
use everstep_store::{BoxFuture, Commit, Outcome};

use super::clock::{TrueClock, true_time};
use super::faults::Faults;
use super::listeners::Listeners;
use super::machine::Machine;
use super::process::Process;
use crate::executor::{Executor, Group};
use crate::observed::{
    History, Journals, Ledger, StoreChange, Violation, check_clock, describe_outcomes,
};
use crate::plan::{FaultKind, Plan};
use crate::planted_store::PlantedStore;
use crate::stores::Stores;
use crate::trace::Trace;

/// The workflows that a process of the simulation executes.
pub(crate) trait Programs: Send + Sync {
    fn workflows(&self, world: &Arc<World>, process: &Arc<Process>) -> Workflows;
}

/// Opens the engine of a process, with a seed for its random numbers.
pub(super) type Boot = fn(Arc<World>, Arc<Process>, u64) -> BoxFuture<'static, ()>;

/// One simulated cluster with its clients.
pub struct World {
    pub plan: Plan,
    pub executor: Executor,
    /// The store without faults.
    pub store: Arc<PlantedStore>,
    pub machines: Vec<Machine>,
    pub trace: Trace,
    /// The tasks that survive all crashes: calls in transit, and the supervision of machines.
    pub network: Group,
    /// The tasks of the clients.
    pub clients: Group,
    pub(super) listeners: Listeners,
    pub(super) programs: Arc<dyn Programs>,
    pub(super) boot: Boot,
    observed: Observed,
    faults: Mutex<Faults>,
    calls: AtomicU64,
    /// The number of clients that still make requests.
    pub(crate) busy_clients: AtomicU64,
    /// Replaces the random programs in an exhaustive search.
    pub(crate) scenario: Option<(&'static Scenario, Outside)>,
}

#[derive(Default)]
struct Observed {
    history: Mutex<History>,
    journals: Mutex<Journals>,
    ledger: Mutex<Ledger>,
    violations: Mutex<Vec<Violation>>,
}

impl World {
    /// Creates a world in which no process runs yet.
    pub(super) fn new(
        plan: Plan,
        is_traced: bool,
        stores: &dyn Stores,
        programs: Arc<dyn Programs>,
        boot: Boot,
    ) -> Arc<Self> {
        let executor = Executor::new(plan.seed);
        let clock = Arc::new(TrueClock(executor.clone()));
        let store = Arc::new(PlantedStore::new(clock, plan.planted, stores));
        let scenario = plan.case.as_ref().map(|case| {
            let executor = executor.clone();
            let outside = Outside::new(case.crashes.len(), move |long| executor.sleep(long));
            (case.scenario, outside)
        });
        Arc::new(Self {
            scenario,
            machines: (0..plan.nodes).map(Machine::new).collect(),
            trace: Trace::new(is_traced),
            network: executor.group(),
            clients: executor.group(),
            listeners: Listeners::default(),
            programs,
            boot,
            observed: Observed::default(),
            faults: Mutex::new(Faults::new(&plan)),
            calls: AtomicU64::new(0),
            busy_clients: AtomicU64::new(plan.clients as u64),
            store,
            executor,
            plan,
        })
    }

    /// Returns the number of the next call or occasion for a fault.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Decides whether a fault happens now, with a probability in ten thousandths.
    pub fn strikes(&self, kind: FaultKind, probability: u64) -> bool {
        let occasion = self.next_call();
        self.faults().strikes(kind, occasion, probability)
    }

    /// Adds a line to the timeline.
    pub fn log(&self, actor: &str, what: impl FnOnce() -> String) {
        self.trace.log(self.executor.now(), actor, what);
    }

    /// Reports a violation.
    pub fn violated(&self, violation: Violation) {
        self.log("CHECK", || violation.to_string());
        lock(&self.observed.violations).push(violation);
    }

    /// Returns the violations so far.
    pub fn violations(&self) -> Vec<Violation> {
        lock(&self.observed.violations).clone()
    }

    /// Sleeps by the true clock.
    pub async fn sleep(&self, duration: Duration) {
        self.executor.sleep(duration).await;
    }

    pub(crate) fn faults(&self) -> MutexGuard<'_, Faults> {
        lock(&self.faults)
    }

    /// Returns the changes of the store and their outcomes.
    pub fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.observed.history)
    }

    /// Returns the expected journals.
    pub fn journals(&self) -> MutexGuard<'_, Journals> {
        lock(&self.observed.journals)
    }

    /// Returns the side effects and the requests of clients.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.observed.ledger)
    }

    pub(super) fn record_change(&self, change: StoreChange) {
        let at = true_time(self.executor.now());
        self.history().add(at, change);
    }

    /// Records a batch that took effect, and checks it. `shown` is the time that the clock of the
    /// process would have shown when it sent the batch if it had never been set back.
    pub(super) fn record_commit(
        &self,
        process: &Process,
        shown: Timestamp,
        batch: &Arc<[Commit]>,
        outcomes: &[Outcome],
    ) {
        let at = true_time(self.executor.now());
        self.log(&process.name, || {
            format!("      took effect: {}", describe_outcomes(outcomes))
        });
        self.journals().clock_has_shown(shown);
        let mut broken = self.journals().commit(at, batch, outcomes);
        broken.extend(check_clock(batch, outcomes, shown));
        broken
            .into_iter()
            .for_each(|violation| self.violated(violation));
        self.record_change(StoreChange::Commit(batch.clone(), outcomes.to_vec()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
