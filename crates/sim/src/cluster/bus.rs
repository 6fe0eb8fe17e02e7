//! The bus between the machines: hints arrive, or do not, or twice, or late. Each arrives in a task of its receiver, so
//! that it waits while the receiver stands still and is lost when it dies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use everstep_store::{Bus, Hint, Subscription};

use super::faults::FaultKind;
use super::machine::Process;
use super::world::World;

type Listener = Arc<dyn Fn(Hint) + Send + Sync>;

/// Who listens, by the number of the subscription.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    next: u64,
    by_number: BTreeMap<u64, (Arc<Process>, Listener)>,
}

impl Listeners {
    pub(crate) fn publish(&self, world: &Arc<World>, from: Option<usize>, hint: Hint) {
        let receivers: Vec<_> = self.state().by_number.values().cloned().collect();
        for (process, listener) in receivers {
            // What a process tells itself does not go through the network.
            let is_own = process.machine == from;
            if world.plan.is_deaf && !is_own {
                continue;
            }
            if !is_own && world.strikes(FaultKind::HintLost, 1_500) {
                continue;
            }
            let times = if world.strikes(FaultKind::HintRepeated, 150) {
                2
            } else {
                1
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bus of one process.
pub(crate) struct SimBus {
    world: Arc<World>,
    process: Arc<Process>,
}

impl SimBus {
    pub(crate) fn new(world: Arc<World>, process: Arc<Process>) -> Self {
        Self { world, process }
    }

    /// Hints are calls with numbers where crashes are chosen; otherwise what goes wrong with them is drawn for each receiver.
    fn chosen_crash(&self, hint: Hint) -> Option<FaultKind> {
        if !self.world.faults().is_scripted() {
            return None;
        }
        let number = self.world.next_call();
        let name = &self.process.name;
        self.world
            .say(name, || format!("#{number} publish {hint:?}"));
        self.world.faults().chosen(number)
    }
}

impl Bus for SimBus {
    fn publish(&self, hint: Hint) {
        let (world, process) = (&self.world, &self.process);
        if !process.is_alive(world) {
            return;
        }
        let crash = self.chosen_crash(hint);
        if crash == Some(FaultKind::CrashBefore) {
            return process.crash(world, "before this hint");
        }
        world.publish(process.machine, hint);
        if crash.is_some() {
            process.crash(world, "after this hint");
        }
    }

    fn subscribe(&self, on_hint: Box<dyn Fn(Hint) + Send + Sync>) -> Subscription {
        let mut state = self.world.listeners.state();
        let number = state.next;
        state.next += 1;
        let listener = (self.process.clone(), Listener::from(on_hint));
        state.by_number.insert(number, listener);
        drop(state);
        let listeners: Weak<Mutex<State>> = Arc::downgrade(&self.world.listeners.0);
        Subscription::new(move || {
            if let Some(listeners) = listeners.upgrade() {
                let mut state = listeners.lock().unwrap_or_else(PoisonError::into_inner);
                let gone = state.by_number.remove(&number);
                drop(state);
                drop(gone);
            }
        })
    }
}
