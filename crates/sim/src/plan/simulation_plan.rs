//! What follows from a seed: the size of the cluster, its settings, the probability of faults and
//! the amount of work. Limits narrow a plan, which is how a failing seed is minimised.

use std::collections::BTreeSet;
use std::time::Duration;

use everstep::{Retention, RunStatus, Settings};
use everstep_engine::simulation::Rng;

use everstep_model::planted::Bug;

use super::case::Case;
use super::fault_kind::FaultKind;

/// Parts of a plan that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Faults that do not happen.
    pub without: BTreeSet<FaultKind>,
    /// The maximum number of nodes.
    pub nodes: Option<usize>,
    /// The maximum number of runs.
    pub runs: Option<usize>,
    /// The maximum number of requests of each client.
    pub requests: Option<u64>,
    /// The maximum number of faults.
    pub faults: Option<u64>,
}

/// Everything that is decided before a simulation begins.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub limits: Limits,
    pub nodes: usize,
    /// The number of runs of random programs.
    pub runs: usize,
    /// The number of clients.
    pub clients: usize,
    /// How long faults happen and clients make requests.
    pub chaos: Duration,
    /// The probability that a call meets a fault, in thousandths.
    pub faults_per_mille: u64,
    /// Whether every hint between machines is lost.
    pub loses_hints: bool,
    /// Set if workers execute the programs over a network: the time without a request after which a
    /// node considers a worker dead.
    pub served: Option<Duration>,
    /// The settings of the engines.
    pub settings: Settings,
    /// How long ended runs are kept. None keeps them forever.
    pub kept_for: Option<Duration>,
    /// Replaces the random programs and the random faults.
    pub case: Option<Case>,
    /// The planted bug.
    pub planted: Option<Bug>,
}

impl Plan {
    /// Creates the plan of a seed within limits.
    #[must_use]
    pub fn new(seed: u64, limits: Limits) -> Self {
        let mut rng = Rng::new(seed, 2);
        let nodes = rng.any(&[1, 2, 2, 3, 3]);
        let runs = rng.any(&[2, 3, 4, 6]);
        let clients = rng.any(&[1, 2, 3]);
        let chaos = Duration::from_secs(rng.within(40..160));
        let faults_per_mille = rng.any(&[2, 10, 20, 40]);
        let loses_hints = rng.one_in(5);
        let kept_for = rng
            .one_in(6)
            .then(|| Duration::from_secs(rng.within(5..60)));
        let mut settings = settings(&mut rng, kept_for);
        settings.journal_page_records = journal_page_records(seed);
        Self {
            seed,
            nodes: limits.nodes.map_or(nodes, |max| nodes.min(max)),
            runs: limits.runs.map_or(runs, |max| runs.min(max)),
            limits,
            clients,
            chaos,
            faults_per_mille,
            loses_hints,
            served: served(seed),
            settings,
            kept_for,
            case: None,
            planted: None,
        }
    }

    /// Creates the plan of a case. Only the crashes of the case happen.
    #[must_use]
    pub fn of_case(case: Case) -> Self {
        let settings = Settings {
            lease_ttl: Duration::from_secs(3),
            sweep_interval: Duration::from_secs(5),
            ..Settings::default()
        };
        Self {
            seed: 0,
            limits: Limits::default(),
            nodes: case.nodes,
            runs: 0,
            clients: 0,
            chaos: Duration::ZERO,
            faults_per_mille: 0,
            loses_hints: false,
            served: None,
            settings,
            kept_for: None,
            case: Some(case),
            planted: None,
        }
    }

    #[must_use]
    pub fn with_bug(mut self, bug: Option<Bug>) -> Self {
        self.planted = bug;
        self
    }

    /// Returns the same plan with the programs in workers.
    #[must_use]
    pub fn served(mut self) -> Self {
        let mut rng = Rng::new(self.seed, 81);
        self.served = Some(Duration::from_secs(rng.any(&[3, 5, 10])));
        self
    }
}

/// One seed in four has its programs in workers. This uses random numbers of its own, so that the
/// rest of the plan does not depend on it.
fn served(seed: u64) -> Option<Duration> {
    let mut rng = Rng::new(seed, 80);
    rng.one_in(4)
        .then(|| Duration::from_secs(rng.any(&[3, 5, 10])))
}

/// Most journals of a simulation would fit into one page. This uses random numbers of its own.
fn journal_page_records(seed: u64) -> usize {
    Rng::new(seed, 82).any(&[3, 10, 100, 10_000])
}

fn settings(rng: &mut Rng, kept_for: Option<Duration>) -> Settings {
    let secs = Duration::from_secs;
    let mut retention = Retention::forever();
    if let Some(age) = kept_for {
        for status in [
            RunStatus::Completed,
            RunStatus::Failed,
            RunStatus::Cancelled,
        ] {
            retention = retention.keep(status, age);
        }
    }
    Settings {
        hot_runs_max: rng.any(&[0, 1, 3, 1_000, 1_000]),
        hot_idle_max: secs(rng.any(&[1, 5, 60])),
        lease_ttl: secs(rng.any(&[3, 5, 10])),
        sweep_interval: secs(rng.any(&[5, 10, 30])),
        timer_horizon: secs(rng.any(&[2, 10, 60])),
        timers_in_memory_max: rng.any(&[1, 4, 100_000]),
        retention,
        retention_interval: secs(rng.within(3..20)),
        shutdown_grace: secs(rng.any(&[1, 10])),
        development: rng.one_in(5),
        ..Settings::default()
    }
}
