//! One simulation: a phase with faults, a phase without, and the checks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep_model::planted::plant;

use crate::check::{Watch, check_all};
use crate::cluster::{World, build_world, inject_machine_faults, inject_store_faults, keep_worker};
use crate::executor::Stopped;
use crate::observed::Violation;
use crate::plan::{FaultKind, Plan};
use crate::stores::InMemory;
use crate::workload::{self, RandomPrograms};

/// How long the runs may take to end after the last fault. A clock that was an hour ahead leaves
/// deadlines that are an hour away.
const CALM_MAX_MICROS: u64 = 3 * 3_600 * 1_000_000;

/// The result of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub violations: Vec<Violation>,
    /// Empty unless it was requested.
    pub timeline: String,
    /// The simulated time.
    pub micros: u64,
    /// Operations of workflows and requests of clients.
    pub operations: u64,
    /// The number of calls of the store.
    pub calls: u64,
    /// The number of faults by kind.
    pub faults: BTreeMap<FaultKind, u64>,
    /// The number of operations and requests by name.
    pub exercised: BTreeMap<&'static str, u64>,
}

/// Simulates a plan.
#[must_use]
pub fn simulate(plan: &Plan, is_traced: bool) -> Report {
    let planted = plant(plan.planted);
    let world = build_world(plan.clone(), is_traced, &InMemory, Arc::new(RandomPrograms));
    let until = u64::try_from(plan.chaos.as_micros()).unwrap_or(u64::MAX);
    for machine in &world.machines {
        world.start(machine);
        let machine_faults = inject_machine_faults(world.clone(), machine.index, until);
        world.executor.spawn(world.network, machine_faults);
    }
    if plan.served.is_some() {
        for number in 0..plan.nodes {
            let worker = keep_worker(world.clone(), number, until);
            world.executor.spawn(world.network, worker);
        }
    }
    let store_faults = inject_store_faults(world.clone(), until);
    world.executor.spawn(world.network, store_faults);
    let clients = world.clone();
    world.executor.spawn(world.network, async move {
        workload::prepare(&clients).await;
        for number in 0..clients.plan.clients {
            let client = workload::run_client(clients.clone(), number, until);
            clients.executor.spawn(clients.clients, client);
        }
    });
    let mut stopped = world.executor.run(until, || false);
    if stopped != Stopped::Livelock {
        stopped = finish_all_runs(&world);
    }
    // The checks use the code without the planted bug.
    drop(planted);
    if stopped == Stopped::Livelock {
        let what = "livelock: tasks run without progress of time";
        world.violated(Violation::of(29, what));
    } else if world.violations().is_empty() {
        check_all(&world)
            .into_iter()
            .for_each(|violation| world.violated(violation));
    }
    let report = report(&world);
    world.destroy();
    report
}

/// Ends all faults and waits until all runs have ended.
fn finish_all_runs(world: &Arc<World>) -> Stopped {
    world.log("CALM", || "no faults from here on".to_owned());
    world.faults().stop();
    for machine in &world.machines {
        world.heal(machine);
    }
    let is_finished = Arc::new(AtomicBool::new(false));
    let (finished, shared) = (is_finished.clone(), world.clone());
    world.executor.spawn(world.network, async move {
        workload::finish(shared).await;
        finished.store(true, Ordering::Relaxed);
    });
    world
        .executor
        .spawn(world.network, Watch::over(world.clone()));
    let limit = world.executor.now() + CALM_MAX_MICROS;
    let is_done = || is_finished.load(Ordering::Relaxed) || !world.violations().is_empty();
    let stopped = world.executor.run(limit, is_done);
    if stopped == Stopped::TimeLimit {
        let open = workload::unfinished(world);
        let what = format!("these runs did not end: {}", open.join("; "));
        world.violated(Violation::of(29, what));
    }
    stopped
}

fn report(world: &World) -> Report {
    let ledger = world.ledger();
    let mut exercised = ledger.called.clone();
    exercised.extend(&ledger.requests);
    let faults = world.faults().counts().clone();
    Report {
        violations: world.violations(),
        timeline: world.trace.text(),
        micros: world.executor.now(),
        operations: ledger.operations(),
        calls: world.calls(),
        faults,
        exercised,
    }
}
