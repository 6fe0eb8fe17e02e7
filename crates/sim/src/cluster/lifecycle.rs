//! The start and the end of processes. A machine starts the next process some time after a crash.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::simulation::Rng;

use super::machine::Machine;
use super::process::Process;
use super::world::World;

impl World {
    /// Starts a process on a machine, unless one is running.
    pub fn start(self: &Arc<Self>, machine: &Machine) {
        let Some((process, number)) = machine.begin_process(|| self.executor.group()) else {
            return;
        };
        let seed = Rng::new(self.plan.seed, 1_000 * number + machine.index as u64).number();
        let group = process.group;
        self.executor
            .spawn(group, (self.boot)(self.clone(), process, seed));
    }

    fn start_after(self: &Arc<Self>, machine: &Machine, delay: Duration) {
        let (index, world) = (machine.index, self.clone());
        self.executor.spawn(self.network, async move {
            world.sleep(delay).await;
            if let Some(machine) = world.machines.get(index) {
                world.start(machine);
            }
        });
    }

    /// Ends a process at once. Its machine starts the next one later.
    pub(crate) fn crash(self: &Arc<Self>, process: &Process, why: &str) {
        if !process.is_alive(&self.executor) {
            return;
        }
        self.log(&process.name, || format!("CRASH {why}"));
        self.executor.end(process.group);
        let machine = process.machine.and_then(|index| self.machines.get(index));
        let Some(machine) = machine else {
            return;
        };
        self.forget_process(machine);
        let mut rng = Rng::new(self.plan.seed ^ self.next_call(), 4);
        let mut down = Duration::from_millis(rng.any(&[0, 100, 2_000, 8_000, 25_000]));
        if let Some(case) = &self.plan.case {
            let mut machines = self.machines.iter();
            let is_alone = machines.all(|machine| machine.process().is_none());
            down = case.downtime(is_alone);
        }
        self.start_after(machine, down);
    }

    /// Shuts a process down in order, and starts the next one.
    pub(super) async fn restart(self: &Arc<Self>, machine: &Machine) {
        let Some(process) = machine.process() else {
            return;
        };
        self.log(&process.name, || "shuts down".to_owned());
        self.request(machine.index, |engine| async move {
            engine.shutdown().await;
        })
        .await;
        if process.is_alive(&self.executor) {
            self.log(&process.name, || "has shut down".to_owned());
            self.executor.end(process.group);
            self.forget_process(machine);
            self.start_after(machine, Duration::from_millis(200));
        }
    }

    /// Ends all tasks, so that none of them keeps the world in memory.
    pub(crate) fn destroy(&self) {
        for machine in &self.machines {
            if let Some(process) = machine.process() {
                self.executor.end(process.group);
            }
            self.forget_process(machine);
        }
        self.executor.run(self.executor.now(), || true);
        self.executor.end(self.clients);
        self.executor.end(self.network);
        self.executor.run(self.executor.now(), || true);
    }

    /// Dropping an engine can run any code, so a task of its own drops it.
    fn forget_process(&self, machine: &Machine) {
        let dropped = machine.end_process();
        self.executor
            .spawn(self.network, async move { drop(dropped) });
    }
}
