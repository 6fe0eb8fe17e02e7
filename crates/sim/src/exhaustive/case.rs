//! One case: a story, and the calls at which its nodes crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use everstep_store::Store as _;
use futures_util::FutureExt as _;

use crate::check::{Watch, check_all, check_story};
use crate::cluster::{World, build_world};
use crate::executor::Stopped;
use crate::observed::Violation;
use crate::plan::{Case, Plan};
use crate::stores::Stores;
use crate::workload::RandomPrograms;

/// What a case came to.
#[derive(Clone, Debug, Default)]
pub struct CaseReport {
    /// What must hold and did not.
    pub violations: Vec<Violation>,
    /// The timeline, if it was kept.
    pub timeline: String,
    /// The numbers of the calls of store and bus, in order.
    pub calls: Vec<u64>,
    /// How many crashes there were.
    pub crashes: u64,
    /// How often the story was begun again because its teller died.
    pub retold: u64,
    /// How long it took in the world.
    pub micros: u64,
}

/// How long a story may take: a recovery is a matter of seconds.
const TIME_MAX_MICROS: u64 = 600 * 1_000_000;
/// What is on its way to another run arrives within this long.
const LOOKS_AT_OUTBOX: u32 = 120;

/// Simulates a case, with its timeline or without.
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
    let (is_told, retold) = (
        Arc::new(AtomicBool::new(false)),
        Arc::<AtomicU64>::default(),
    );
    let teller = tell(world.clone(), retold.clone());
    let told = is_told.clone();
    world.executor.spawn(world.network, async move {
        teller.await;
        told.store(true, Ordering::Relaxed);
    });
    world
        .executor
        .spawn(world.network, Watch::over(world.clone()));
    let is_done = || is_told.load(Ordering::Relaxed) || !world.violations().is_empty();
    match world.executor.run(TIME_MAX_MICROS, is_done) {
        Stopped::Done => {}
        Stopped::TimeIsUp => world.violated(Violation::of(29, "the story came to no end")),
        Stopped::RunsInCircles => {
            let what = "tasks run on and on without time passing";
            world.violated(Violation::of(29, what));
        }
    }
    if world.violations().is_empty() {
        let found = check_all(&world).into_iter();
        let found = found.chain(check_story(&world, case.story));
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
        retold: retold.load(Ordering::Relaxed),
        micros: world.executor.now(),
    };
    world.destroy();
    report
}

/// Tells the story at one node after the other, until one of them lives to its end and nothing is on its way any more.
async fn tell(world: Arc<World>, retold: Arc<AtomicU64>) {
    let Some((story, outside)) = world.story.clone() else {
        return;
    };
    for node in 0.. {
        let machine = up(&world, node).await;
        world.say("teller", || format!("tells the story at {machine}"));
        let outside = outside.clone();
        let told = world.request_without_timeout(machine, move |engine| async move {
            story
                .drive(engine, &outside)
                .await
                .map_err(|broken| broken.to_string())
        });
        match told.await {
            None => {
                retold.fetch_add(1, Ordering::Relaxed);
                world.say("teller", || "has died".to_owned());
            }
            Some(Err(broken)) => return world.violated(Violation::of(11, broken)),
            Some(Ok(())) => break,
        }
    }
    for _ in 0..LOOKS_AT_OUTBOX {
        world.sleep(Duration::from_millis(250)).await;
        let left = world.store.outbox(None, 1_000).now_or_never();
        if left
            .and_then(Result::ok)
            .is_some_and(|left| left.is_empty())
        {
            return;
        }
    }
    world.violated(Violation::of(17, "something was never delivered"));
}

/// The next machine, in turn, that has an engine.
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
