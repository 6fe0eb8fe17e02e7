//! Faults of whole machines: pauses that exceed the lease, clock jumps, outages of the store,
//! restarts.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use everstep_engine::simulation::Rng;

use super::clock::true_time;
use super::machine::Machine;
use super::world::World;
use crate::plan::FaultKind;

/// The maximum error of a clock.
const HOUR_MS: i64 = 3_600_000;

/// Injects faults into a machine for a time.
pub async fn inject_machine_faults(world: Arc<World>, machine: usize, until: u64) {
    let Some(machine) = world.machines.get(machine) else {
        return;
    };
    let mut rng = Rng::new(world.plan.seed, 50 + machine.index as u64);
    if world.strikes(FaultKind::Skew, 4_000) {
        set_clock(&world, machine, rng.within(0..10_000) as i64 - 5_000);
    }
    while world.executor.now() < until {
        world
            .sleep(Duration::from_millis(rng.within(1_000..20_000)))
            .await;
        let ttl = world.plan.settings.lease_ttl;
        if world.strikes(FaultKind::Pause, 1_500) {
            let long = ttl.mul_f64(rng.any(&[0.5, 1.2, 1.5, 3.0, 5.0]));
            pause(&world, machine, long).await;
        } else if world.strikes(FaultKind::Jump, 1_500) {
            let far = rng.any(&[900, 900, 20_000, 20_000, 20_000, HOUR_MS]);
            let now = machine.offset.load(Ordering::Relaxed);
            let offset = if rng.one_in(2) { now + far } else { now - far };
            set_clock(&world, machine, offset.clamp(-HOUR_MS, HOUR_MS));
        } else if world.strikes(FaultKind::Outage, 1_000) {
            let long = Duration::from_secs(rng.any(&[1, 6, 15, 40]));
            cut_off(&world, machine, long);
        } else if world.strikes(FaultKind::Restart, 1_000) {
            world.restart(machine).await;
        }
    }
}

/// Injects crashes of the store for a time.
pub async fn inject_store_faults(world: Arc<World>, until: u64) {
    let mut rng = Rng::new(world.plan.seed, 60);
    while world.executor.now() < until {
        let pause = rng.within(1_000..30_000);
        world.sleep(Duration::from_millis(pause)).await;
        let down = Duration::from_millis(rng.any(&[1, 300, 2_000]));
        if world.strikes(FaultKind::StoreCrash, 2_000) {
            world.crash_store(down);
        }
    }
}

impl World {
    /// Makes the store unreachable for all machines. It returns with what is durable.
    fn crash_store(&self, down: Duration) {
        let now = self.executor.now();
        self.log("store", || format!("CRASH, back in {down:?}"));
        self.store.crash(&mut self.history(), true_time(now));
        for machine in &self.machines {
            machine.cut_off(now + down.as_micros() as u64);
        }
    }
}

async fn pause(world: &World, machine: &Machine, long: Duration) {
    let Some(process) = machine.process() else {
        return;
    };
    world.log(&process.name, || format!("PAUSED for {long:?}"));
    world.executor.freeze(process.group, true);
    world.sleep(long).await;
    world.executor.freeze(process.group, false);
    world.log(&process.name, || "continues".to_owned());
}

fn cut_off(world: &World, machine: &Machine, long: Duration) {
    let until = world.executor.now() + long.as_micros() as u64;
    machine.cut_off(until);
    world.log(&format!("node {}", machine.index), || {
        format!("STORE UNREACHABLE for {long:?}")
    });
}

pub(crate) fn set_clock(world: &World, machine: &Machine, offset: i64) {
    machine.offset.store(offset, Ordering::Relaxed);
    world.log(&format!("node {}", machine.index), || {
        format!("CLOCK is off by {offset} ms")
    });
}

impl World {
    /// Ends all faults of a machine.
    pub(crate) fn heal(self: &Arc<Self>, machine: &Machine) {
        set_clock(self, machine, 0);
        machine.reconnect();
        if let Some(process) = machine.process() {
            self.executor.freeze(process.group, false);
        }
        self.start(machine);
    }
}
