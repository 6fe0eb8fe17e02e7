//! The world: everything the parts of a simulation share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_canonical::{Outside, Scenario};
use everstep_store::Hint;

use super::bus::Listeners;
use super::faults::{FaultKind, Faults};
use super::machine::Machine;
use super::runtime::TrueClock;
use crate::check::{Journals, Violation};
use crate::executor::{Executor, Group};
use crate::history::History;
use crate::plan::Plan;
use crate::planted::PlantedStore;
use crate::stores::Stores;
use crate::trace::Trace;
use crate::workload::Ledger;

/// One simulated world.
pub struct World {
    /// What the seed stands for.
    pub plan: Plan,
    /// Time and tasks.
    pub executor: Executor,
    /// Where truth lives, without faults in front of it.
    pub store: PlantedStore,
    /// Those that run engines.
    pub machines: Vec<Machine>,
    /// The timeline.
    pub trace: Trace,
    /// Tasks that belong to nobody who dies: the network, and whoever restarts machines.
    pub network: Group,
    /// The clients' tasks.
    pub clients: Group,
    pub(crate) listeners: Listeners,
    faults: Mutex<Faults>,
    history: Mutex<History>,
    journals: Mutex<Journals>,
    ledger: Mutex<Ledger>,
    violations: Mutex<Vec<Violation>>,
    calls: AtomicU64,
    /// Clients that still make requests.
    pub(crate) busy_clients: AtomicU64,
    /// The story that is told here instead of random programs, and its outside.
    pub(crate) story: Option<(&'static Scenario, Outside)>,
}

impl World {
    /// A world in which nothing runs yet.
    #[must_use]
    pub fn new(plan: Plan, is_traced: bool, stores: &dyn Stores) -> Arc<Self> {
        let executor = Executor::new(plan.seed);
        let clock = Arc::new(TrueClock(executor.clone()));
        let store = PlantedStore::new(clock, plan.planted, stores);
        let story = plan.case.as_ref().map(|case| {
            let executor = executor.clone();
            let outside = Outside::new(case.crashes.len(), move |long| executor.sleep(long));
            (case.story, outside)
        });
        Arc::new(Self {
            story,
            machines: (0..plan.nodes).map(Machine::new).collect(),
            trace: Trace::new(is_traced),
            network: executor.group(),
            clients: executor.group(),
            listeners: Listeners::default(),
            faults: Mutex::new(Faults::new(&plan)),
            history: Mutex::default(),
            journals: Mutex::default(),
            ledger: Mutex::default(),
            violations: Mutex::default(),
            calls: AtomicU64::new(0),
            busy_clients: AtomicU64::new(plan.clients as u64),
            store,
            executor,
            plan,
        })
    }

    /// The number of the next call or occasion.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether a fault strikes now, with this likelihood in ten thousand.
    pub fn strikes(&self, kind: FaultKind, likely: u64) -> bool {
        let occasion = self.next_call();
        self.faults().strikes(kind, occasion, likely)
    }

    /// A line of the timeline.
    pub fn say(&self, who: &str, what: impl FnOnce() -> String) {
        self.trace.say(self.executor.now(), who, what);
    }

    /// Something that must never be.
    pub fn violated(&self, violation: Violation) {
        self.say("CHECK", || violation.to_string());
        lock(&self.violations).push(violation);
    }

    /// What was violated so far.
    pub fn violations(&self) -> Vec<Violation> {
        lock(&self.violations).clone()
    }

    /// Completes when this much true time has passed.
    pub async fn sleep(&self, duration: Duration) {
        self.executor.sleep(duration).await;
    }

    /// The faults.
    pub fn faults(&self) -> MutexGuard<'_, Faults> {
        lock(&self.faults)
    }

    /// What the store was asked and what it answered.
    pub fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }

    /// The journals as they must be.
    pub fn journals(&self) -> MutexGuard<'_, Journals> {
        lock(&self.journals)
    }

    /// What happened outside.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// Sends a hint to every machine, or loses, repeats or delays it.
    pub(crate) fn publish(self: &Arc<Self>, from: Option<usize>, hint: Hint) {
        self.listeners.publish(self, from, hint);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
