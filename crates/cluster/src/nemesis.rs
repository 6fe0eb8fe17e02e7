//! What goes wrong: one fault after the other in an order that the seed shuffles, so that each kind has its turn, on nodes that have
//! no other trouble at the moment.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

use everstep_private_postgres::Stop;
use everstep_sim::rng::Rng;

use crate::cluster::Cluster;
use crate::connections::drop_connections;
use crate::ledger::true_millis;
use crate::node::LEASE;
use crate::process::{Held, Node};

/// How far clocks jump.
const HOUR_MS: i64 = 3_600_000;
/// How long after a clock is right again what happened meanwhile may still be on its way.
const CLOCK_MARGIN_MS: u64 = 2_000;

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// SIGKILL; another process follows.
    Killed,
    /// SIGSTOP for longer than the lease.
    StoodStill,
    /// SIGTERM; another process follows.
    Replaced,
    /// The database is restarted as if it had crashed.
    DatabaseCrashed,
    /// Connections to the database are closed by it.
    ConnectionsDropped,
    /// A clock goes an hour ahead for a while.
    ClockAhead,
    /// A clock goes an hour behind for a while.
    ClockBehind,
}

impl Fault {
    pub(crate) const ALL: [Self; 7] = [
        Self::Killed,
        Self::StoodStill,
        Self::Replaced,
        Self::DatabaseCrashed,
        Self::ConnectionsDropped,
        Self::ClockAhead,
        Self::ClockBehind,
    ];
}

/// What went wrong.
#[derive(Default)]
pub(crate) struct Troubles {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: BTreeMap<Fault, u64>,
    /// When some clock was wrong, in true milliseconds.
    wrong_clocks: Vec<(u64, u64)>,
    /// Faults that could not be brought about.
    failed: Vec<String>,
}

impl Troubles {
    pub(crate) fn counts(&self) -> BTreeMap<Fault, u64> {
        self.state().counts.clone()
    }

    pub(crate) fn failed(&self) -> Vec<String> {
        self.state().failed.clone()
    }

    /// Whether all clocks were right at all times from here to there.
    pub(crate) fn clocks_were_right(&self, from: u64, until: u64) -> bool {
        let state = self.state();
        let mut wrong = state.wrong_clocks.iter();
        wrong.all(|(begin, end)| until < *begin || *end < from)
    }

    /// Every clock is wrong from now on.
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

/// Makes trouble until it is time to stop, and leaves every node running with a clock that is right.
pub(crate) fn trouble(cluster: &Cluster, troubles: &Troubles, seed: u64, until: Instant) {
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
                    troubles.happened(fault, 1);
                }
                Fault::ConnectionsDropped => {
                    let dropped = drop_connections(&cluster.database.url(), rng.number());
                    match dropped {
                        Ok(dropped) => troubles.happened(fault, dropped),
                        Err(error) => troubles.note(fault, Err(error)),
                    }
                }
                Fault::Killed
                | Fault::StoodStill
                | Fault::Replaced
                | Fault::ClockAhead
                | Fault::ClockBehind => {
                    let node = rng.index(cluster.nodes.len());
                    let held = cluster.nodes.get(node).and_then(Node::hold);
                    if let Some(held) = held {
                        let pause = Duration::from_millis(rng.within(0..1_500));
                        at_node(scope, troubles, fault, held, pause);
                    }
                }
            }
        }
    });
}

fn shuffled(rng: &mut Rng) -> Vec<Fault> {
    let mut left = Fault::ALL.to_vec();
    // Processes die more often than databases.
    left.extend([Fault::Killed, Fault::Killed, Fault::StoodStill]);
    let mut deck = Vec::new();
    while !left.is_empty() {
        deck.push(left.swap_remove(rng.index(left.len())));
    }
    deck
}

/// Does it to a node, on a thread of its own.
fn at_node<'scope>(
    scope: &'scope Scope<'scope, '_>,
    troubles: &'scope Troubles,
    fault: Fault,
    held: Held<'scope>,
    pause: Duration,
) {
    scope.spawn(move || {
        // All of it, so that it is held until this is over.
        let held = held;
        let node = held.0;
        let done = match fault {
            Fault::Killed => node.kill().and_then(|killed| {
                sleep(pause);
                node.start().map(|()| killed)
            }),
            Fault::Replaced => node.end().and_then(|ended| node.start().map(|()| ended)),
            Fault::StoodStill => node.stop().and_then(|stands| {
                sleep(LEASE * 2 + pause * 2);
                node.go_on().map(|()| stands)
            }),
            Fault::ClockAhead => wrong_for_a_while(troubles, node, HOUR_MS, pause),
            Fault::ClockBehind => wrong_for_a_while(troubles, node, -HOUR_MS, pause),
            Fault::DatabaseCrashed | Fault::ConnectionsDropped => Ok(false),
        };
        troubles.note(fault, done);
    });
}

fn wrong_for_a_while(
    troubles: &Troubles,
    node: &Node,
    error: i64,
    pause: Duration,
) -> anyhow::Result<bool> {
    let began = true_millis();
    let jumped = node.set_clock(error)?;
    sleep(Duration::from_millis(500) + pause);
    let is_right_again = node.set_clock(0)?;
    let until = true_millis() + CLOCK_MARGIN_MS;
    troubles.state().wrong_clocks.push((began, until));
    Ok(jumped && is_right_again)
}
