//! The bus between the machines. Each hint arrives in a task of its receiver, so that it waits
//! while the receiver is paused and is lost if the receiver crashes.

use std::sync::Arc;
use std::time::Duration;

use everstep_store::{Bus, Hint, Subscription};

use super::listeners::Listener;
use super::process::Process;
use super::world::World;
use crate::plan::FaultKind;

/// The bus of one process.
pub(super) struct SimBus {
    world: Arc<World>,
    process: Arc<Process>,
}

impl SimBus {
    pub(super) fn new(world: Arc<World>, process: Arc<Process>) -> Self {
        Self { world, process }
    }

    /// In an exhaustive search a hint is a numbered call that can crash its process. In other
    /// simulations the faults of a hint are drawn for each receiver.
    fn scripted_crash(&self, hint: Hint) -> Option<FaultKind> {
        if !self.world.faults().is_scripted() {
            return None;
        }
        let number = self.world.next_call();
        let name = &self.process.name;
        self.world
            .log(name, || format!("#{number} publish {hint:?}"));
        self.world.faults().scripted(number)
    }
}

impl Bus for SimBus {
    fn publish(&self, hint: Hint) {
        let (world, process) = (&self.world, &self.process);
        if !process.is_alive(&world.executor) {
            return;
        }
        let crash = self.scripted_crash(hint);
        if crash == Some(FaultKind::CrashBefore) {
            return world.crash(process, "before this hint");
        }
        publish(world, process.machine, hint);
        if crash.is_some() {
            world.crash(process, "after this hint");
        }
    }

    fn subscribe(&self, on_hint: Box<dyn Fn(Hint) + Send + Sync>) -> Subscription {
        let listener = Listener::from(on_hint);
        self.world.listeners.add(self.process.clone(), listener)
    }
}

/// Sends a hint to all machines, or loses, repeats or delays it.
pub(super) fn publish(world: &World, from: Option<usize>, hint: Hint) {
    for (process, listener) in world.listeners.all() {
        // A hint of a process to itself does not use the network.
        let is_own = process.machine == from;
        let is_lost = || world.plan.loses_hints || world.strikes(FaultKind::HintLost, 1_500);
        if !is_own && is_lost() {
            continue;
        }
        let times = match world.strikes(FaultKind::HintRepeated, 150) {
            true => 2,
            false => 1,
        };
        for _ in 0..times {
            let delay = match world.strikes(FaultKind::HintDelayed, 300) {
                true => Duration::from_millis(world.next_call() % 7 * 700),
                false => Duration::ZERO,
            };
            let (listener, executor) = (listener.clone(), world.executor.clone());
            world.executor.spawn(process.group, async move {
                executor.sleep(delay).await;
                listener(hint);
            });
        }
    }
}
