//! Injects faults one after the other, in an order shuffled by the seed in which every kind occurs,
//! on nodes that have no other fault at the time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

use everstep_engine::simulation::Rng;
use everstep_private_postgres::Stop;

use crate::cluster::Cluster;
use crate::connections::drop_connections;
use crate::ledger::true_millis;
use crate::node::LEASE;
use crate::process::{Held, Node};

/// How far clocks jump, in milliseconds.
const HOUR_MS: i64 = 3_600_000;
/// How long effects of a wrong clock may remain after it was corrected.
const CLOCK_MARGIN_MS: u64 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// SIGKILL, then a new process.
    Killed,
    /// SIGSTOP for longer than the lease.
    Stopped,
    /// SIGTERM, then a new process.
    Replaced,
    /// An immediate restart of the database, which requires crash recovery.
    DatabaseCrashed,
    /// The database closes connections.
    ConnectionsDropped,
    /// A clock is an hour ahead for a while.
    ClockAhead,
    /// A clock is an hour behind for a while.
    ClockBehind,
}

impl Fault {
    pub(crate) const ALL: [Self; 7] = [
        Self::Killed,
        Self::Stopped,
        Self::Replaced,
        Self::DatabaseCrashed,
        Self::ConnectionsDropped,
        Self::ClockAhead,
        Self::ClockBehind,
    ];
}

/// The faults that were injected.
#[derive(Default)]
pub(crate) struct InjectedFaults {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: BTreeMap<Fault, u64>,
    /// The periods in which a clock was wrong, in true milliseconds.
    wrong_clocks: Vec<(u64, u64)>,
    /// Faults that could not be injected.
    failed: Vec<String>,
}

impl InjectedFaults {
    pub(crate) fn counts(&self) -> BTreeMap<Fault, u64> {
        self.state().counts.clone()
    }

    pub(crate) fn failed(&self) -> Vec<String> {
        self.state().failed.clone()
    }

    /// Whether all clocks were right during the whole period.
    pub(crate) fn clocks_were_right(&self, from: u64, until: u64) -> bool {
        let state = self.state();
        let mut wrong = state.wrong_clocks.iter();
        wrong.all(|(begin, end)| until < *begin || *end < from)
    }

    /// Marks all clocks as wrong from now on.
    pub(crate) fn clocks_are_wrong(&self) {
        let now = true_millis();
        self.state().wrong_clocks.push((now, u64::MAX));
    }

    fn happened(&self, fault: Fault, times: u64) {
        *self.state().counts.entry(fault).or_default() += times;
    }

    fn note(&self, fault: Fault, done: anyhow::Result<bool>) {
        match done {
            Ok(true) => self.happened(fault, 1),
            Ok(false) => self.state().failed.push(format!("{fault:?}: no effect")),
            Err(error) => self.state().failed.push(format!("{fault:?}: {error:#}")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Injects faults until the deadline. Leaves every node running with a correct clock.
pub(crate) fn inject_faults(
    cluster: &Cluster,
    faults_injected: &InjectedFaults,
    seed: u64,
    until: Instant,
) {
    let mut rng = Rng::new(seed, 77);
    std::thread::scope(|scope| {
        let mut deck: Vec<Fault> = Vec::new();
        while Instant::now() < until {
            sleep(Duration::from_millis(rng.within(700..2_200)));
            if deck.is_empty() {
                deck = shuffled(&mut rng);
            }
            let Some(fault) = deck.pop() else { continue };
            match fault {
                Fault::DatabaseCrashed => {
                    cluster.database.restart(Stop::Immediate);
                    faults_injected.happened(fault, 1);
                }
                Fault::ConnectionsDropped => {
                    let dropped = drop_connections(&cluster.database.url(), rng.number());
                    match dropped {
                        Ok(dropped) => faults_injected.happened(fault, dropped),
                        Err(error) => faults_injected.note(fault, Err(error)),
                    }
                }
                Fault::Killed
                | Fault::Stopped
                | Fault::Replaced
                | Fault::ClockAhead
                | Fault::ClockBehind => {
                    let node = rng.index(cluster.nodes.len());
                    let held = cluster.nodes.get(node).and_then(Node::hold);
                    if let Some(held) = held {
                        let pause = Duration::from_millis(rng.within(0..1_500));
                        inject_into_node(scope, faults_injected, fault, held, pause);
                    }
                }
            }
        }
    });
}

fn shuffled(rng: &mut Rng) -> Vec<Fault> {
    let mut left = Fault::ALL.to_vec();
    // Processes fail more often than databases.
    left.extend([Fault::Killed, Fault::Killed, Fault::Stopped]);
    let mut deck = Vec::new();
    while !left.is_empty() {
        deck.push(left.swap_remove(rng.index(left.len())));
    }
    deck
}

/// Injects a fault into a node on a separate thread.
fn inject_into_node<'scope>(
    scope: &'scope Scope<'scope, '_>,
    faults_injected: &'scope InjectedFaults,
    fault: Fault,
    held: Held<'scope>,
    pause: Duration,
) {
    scope.spawn(move || {
        // Move the whole guard into the thread, so that the node is held until the fault is over.
        let held = held;
        let node = held.0;
        let done = match fault {
            Fault::Killed => node.kill().and_then(|killed| {
                sleep(pause);
                node.start().map(|()| killed)
            }),
            Fault::Replaced => node.end().and_then(|ended| node.start().map(|()| ended)),
            Fault::Stopped => node.stop().and_then(|stands| {
                sleep(LEASE * 2 + pause * 2);
                node.resume().map(|()| stands)
            }),
            Fault::ClockAhead => shift_clock_temporarily(faults_injected, node, HOUR_MS, pause),
            Fault::ClockBehind => shift_clock_temporarily(faults_injected, node, -HOUR_MS, pause),
            Fault::DatabaseCrashed | Fault::ConnectionsDropped => Ok(false),
        };
        faults_injected.note(fault, done);
    });
}

fn shift_clock_temporarily(
    faults_injected: &InjectedFaults,
    node: &Node,
    error: i64,
    pause: Duration,
) -> anyhow::Result<bool> {
    let began = true_millis();
    let jumped = node.set_clock(error)?;
    sleep(Duration::from_millis(500) + pause);
    let is_right_again = node.set_clock(0)?;
    let until = true_millis() + CLOCK_MARGIN_MS;
    faults_injected.state().wrong_clocks.push((began, until));
    Ok(jumped && is_right_again)
}
