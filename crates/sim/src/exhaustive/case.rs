//! Simulates one case: a canonical workflow, and the calls at which its nodes crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use everstep_store::Store as _;
use futures_util::FutureExt as _;

use crate::check::{Watch, check_all, check_canonical_journals};
use crate::cluster::{World, build_world};
use crate::executor::Stopped;
use crate::observed::Violation;
use crate::plan::{Case, Plan};
use crate::stores::Stores;
use crate::workload::RandomPrograms;

/// The result of a case.
#[derive(Clone, Debug, Default)]
pub struct CaseReport {
    pub violations: Vec<Violation>,
    /// Empty unless it was requested.
    pub timeline: String,
    /// The numbers of the calls of store and bus, in order.
    pub calls: Vec<u64>,
    pub crashes: u64,
    /// How often the workflow was driven again from the start because the process had crashed.
    pub restarts: u64,
    /// The simulated time.
    pub micros: u64,
}

/// The time limit of a case. A recovery takes seconds.
const TIME_MAX_MICROS: u64 = 600 * 1_000_000;
/// The number of checks after which the outbox must be empty.
const OUTBOX_CHECKS: u32 = 120;

/// Simulates a case.
#[must_use]
pub fn simulate_case(case: &Case, is_traced: bool, stores: &dyn Stores) -> CaseReport {
    let world = build_world(
        Plan::of_case(case.clone()),
        is_traced,
        stores,
        Arc::new(RandomPrograms),
    );
    for machine in &world.machines {
        world.start(machine);
    }
    let (is_driven, restarts) = (
        Arc::new(AtomicBool::new(false)),
        Arc::<AtomicU64>::default(),
    );
    let driver = drive(world.clone(), restarts.clone());
    let driven = is_driven.clone();
    world.executor.spawn(world.network, async move {
        driver.await;
        driven.store(true, Ordering::Relaxed);
    });
    world
        .executor
        .spawn(world.network, Watch::over(world.clone()));
    let is_done = || is_driven.load(Ordering::Relaxed) || !world.violations().is_empty();
    match world.executor.run(TIME_MAX_MICROS, is_done) {
        Stopped::Done => {}
        Stopped::TimeLimit => world.violated(Violation::of(29, "the workflow did not end")),
        Stopped::Livelock => {
            let what = "livelock: tasks run without progress of time";
            world.violated(Violation::of(29, what));
        }
    }
    if world.violations().is_empty() {
        let found = check_all(&world).into_iter();
        let found = found.chain(check_canonical_journals(&world, case.scenario));
        found.for_each(|violation| world.violated(violation));
    }
    let (calls, crashes) = {
        let faults = world.faults();
        (faults.calls().to_vec(), faults.counts().values().sum())
    };
    let report = CaseReport {
        violations: world.violations(),
        timeline: world.trace.text(),
        calls,
        crashes,
        restarts: restarts.load(Ordering::Relaxed),
        micros: world.executor.now(),
    };
    world.destroy();
    report
}

/// Drives the workflow at one node after the other, until one of them reaches the end and all
/// effects are delivered.
async fn drive(world: Arc<World>, restarts: Arc<AtomicU64>) {
    let Some((scenario, outside)) = world.scenario.clone() else {
        return;
    };
    for node in 0.. {
        let machine = up(&world, node).await;
        world.log("driver", || {
            format!("drives the workflow at node {machine}")
        });
        let outside = outside.clone();
        let driven = world.request_without_timeout(machine, move |engine| async move {
            scenario
                .drive(engine, &outside)
                .await
                .map_err(|broken| broken.to_string())
        });
        match driven.await {
            None => {
                restarts.fetch_add(1, Ordering::Relaxed);
                world.log("driver", || "the node has crashed".to_owned());
            }
            Some(Err(broken)) => return world.violated(Violation::of(11, broken)),
            Some(Ok(())) => break,
        }
    }
    for _ in 0..OUTBOX_CHECKS {
        world.sleep(Duration::from_millis(250)).await;
        let left = world.store.outbox(None, 1_000).now_or_never();
        if left
            .and_then(Result::ok)
            .is_some_and(|left| left.is_empty())
        {
            return;
        }
    }
    world.violated(Violation::of(17, "an effect was never delivered"));
}

/// Waits for the next machine that has an engine.
async fn up(world: &World, from: usize) -> usize {
    loop {
        for offset in 0..world.machines.len() {
            let index = (from + offset) % world.machines.len();
            let machine = world.machines.get(index);
            if machine.is_some_and(|machine| machine.engine().is_some()) {
                return index;
            }
        }
        world.sleep(Duration::from_millis(10)).await;
    }
}
