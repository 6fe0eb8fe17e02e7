//! The faults of one case as data: drawn from a seed, or a single crash. A failing case is
//! minimised by removing faults.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use everstep_engine::simulation::{Rng, format_moment};

use super::intervention::{Intervention, Planned};
use super::scenario::Scenario;
use super::timeline::clock_error;
use crate::error::Error;
use crate::testing::mock::{Mock, MockedSteps};

/// The purpose of the random numbers of faults. Purpose 0 would repeat the numbers that the engine
/// draws from its runtime, which has the same seed.
const FAULTS: u64 = 1;

/// A fault.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    /// The process crashes before its n-th commit, which is lost.
    CrashBefore {
        commit: u64,
        down: Duration,
    },
    /// The process crashes after its n-th commit is durable, and does not receive the outcome.
    CrashAfter {
        commit: u64,
        down: Duration,
    },
    /// The process crashes at this time.
    CrashAt {
        time: Duration,
        down: Duration,
    },
    LateEvent {
        event: usize,
        by: Duration,
    },
    RepeatedEvent {
        event: usize,
        after: Duration,
    },
    LateAnswers {
        by: Duration,
    },
    RepeatedAnswers,
    /// The clock is set, and is off by this much from then on.
    Clock {
        time: Duration,
        error_millis: i64,
    },
    /// No run stays in memory while it waits.
    Eviction,
    /// An operator intervenes at this time.
    Intervention {
        time: Duration,
        planned: Planned,
    },
    /// An attempt of a step fails before it does anything.
    StepFails {
        place: String,
        for_good: bool,
    },
}

impl Fault {
    /// A simpler variant without a delay.
    pub(super) fn at_once(&self) -> Option<Self> {
        let mut simpler = self.clone();
        match &mut simpler {
            Self::CrashBefore { down: pause, .. }
            | Self::CrashAfter { down: pause, .. }
            | Self::CrashAt { down: pause, .. }
            | Self::RepeatedEvent { after: pause, .. } => *pause = Duration::ZERO,
            Self::LateEvent { .. }
            | Self::LateAnswers { .. }
            | Self::RepeatedAnswers
            | Self::Clock { .. }
            | Self::Eviction
            | Self::Intervention { .. }
            | Self::StepFails { .. } => {}
        }
        (simpler != *self).then_some(simpler)
    }

    /// Describes the fault for a report.
    pub(super) fn describe(&self, scenario: &Scenario) -> String {
        let event = |index: &usize| {
            let event = scenario.events.get(*index);
            let name = event.map(|event| event.name).unwrap_or_default();
            format!("event {} (`{name}`)", index + 1)
        };
        match self {
            Self::CrashBefore { commit, down } => {
                format!("crash before commit {commit}, {}", downtime(*down))
            }
            Self::CrashAfter { commit, down } => {
                format!("crash after commit {commit}, {}", downtime(*down))
            }
            Self::CrashAt { time, down } => {
                format!("crash at {}, {}", format_moment(*time), downtime(*down))
            }
            Self::LateEvent { event: index, by } => {
                format!("{} is {by:?} late", event(index))
            }
            Self::RepeatedEvent {
                event: index,
                after,
            } if after.is_zero() => format!("{} is sent twice at once", event(index)),
            Self::RepeatedEvent {
                event: index,
                after,
            } => format!("{} is sent again, {after:?} later", event(index)),
            Self::LateAnswers { by } => format!("answers take {by:?}"),
            Self::RepeatedAnswers => "answers are given twice".to_owned(),
            Self::Clock { time, error_millis } => {
                format!("at {} {}", format_moment(*time), clock_error(*error_millis))
            }
            Self::Eviction => "no run stays in memory while it waits".to_owned(),
            Self::Intervention { time, planned } => {
                format!("at {} an operator {}", format_moment(*time), planned.what)
            }
            Self::StepFails { place, for_good } => {
                let how = if *for_good { " for good" } else { ", once" };
                format!("step `{place}` fails{how}")
            }
        }
    }
}

fn downtime(down: Duration) -> String {
    if down.is_zero() {
        "back at once".to_owned()
    } else {
        format!("back after {down:?}")
    }
}

/// The name of a case, as in `EVERSTEP_SEED`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CaseName {
    Clean,
    /// A crash before the n-th commit.
    Before(u64),
    /// A crash after the n-th commit.
    After(u64),
    /// A step that fails for good.
    Failing(String),
    /// The faults of a seed.
    Seed(u64),
}

impl fmt::Display for CaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("clean"),
            Self::Before(commit) => write!(f, "before-{commit}"),
            Self::After(commit) => write!(f, "after-{commit}"),
            Self::Failing(place) => write!(f, "failing-{place}"),
            Self::Seed(seed) => write!(f, "{seed}"),
        }
    }
}

impl FromStr for CaseName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok();
        let known = match text.split_once('-') {
            None if text == "clean" => Some(Self::Clean),
            None => number(text).map(Self::Seed),
            Some(("before", commit)) => number(commit).map(Self::Before),
            Some(("after", commit)) => number(commit).map(Self::After),
            Some(("failing", place)) => Some(Self::Failing(place.to_owned())),
            Some(_) => None,
        };
        known.ok_or_else(|| {
            format!("EVERSTEP_SEED is `{text}`, which no simulation prints; a number, for example, is a seed")
        })
    }
}

/// Properties of the run without faults, which bound the faults of seeds.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) commits: u64,
    pub(super) lasted: Duration,
    /// The locations of the steps that may fail.
    pub(super) may_fail: Vec<String>,
}

/// The faults of one case.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) which: CaseName,
    /// The seed of the engine's random numbers.
    pub(super) randomness: u64,
    pub(super) faults: Vec<Fault>,
}

impl Plan {
    pub(super) fn of(which: &CaseName, scenario: &Scenario, measured: &Measured) -> Self {
        let down = Duration::ZERO;
        let mut randomness = 0;
        let faults = match which.clone() {
            CaseName::Clean => Vec::new(),
            CaseName::Before(commit) => vec![Fault::CrashBefore { commit, down }],
            CaseName::After(commit) => vec![Fault::CrashAfter { commit, down }],
            CaseName::Failing(place) => {
                let for_good = true;
                vec![Fault::StepFails { place, for_good }]
            }
            CaseName::Seed(seed) => {
                randomness = seed;
                drawn(&mut fault_rng(seed), scenario, measured)
            }
        };
        Self {
            which: which.clone(),
            randomness,
            faults,
        }
    }

    /// The mocks of the case: the failures of the plan, then the mocks of the test.
    pub(super) fn mocks(&self, scenario: &Scenario) -> MockedSteps {
        let mocks = scenario.mocks();
        for fault in &self.faults {
            if let Fault::StepFails { place, for_good } = fault {
                let error = Error::new("a failure of the simulation");
                let error = match for_good {
                    true => error.non_retryable(),
                    false => error,
                };
                mocks.add_first(place.clone(), Mock::fails(error).times(1));
            }
        }
        mocks
    }
}

/// The random numbers of the faults of a seed.
fn fault_rng(seed: u64) -> Rng {
    Rng::new(seed, FAULTS)
}

/// Draws the faults of a seed. All downtime, the delay of an event and the error of the clock get a
/// third of the slack each.
fn drawn(rng: &mut Rng, scenario: &Scenario, measured: &Measured) -> Vec<Fault> {
    let share = scenario.slack / 3;
    let mut faults = Vec::new();
    for event in 0..scenario.events.len() {
        if rng.one_in(2) {
            let by = rng.duration(share);
            faults.push(Fault::LateEvent { event, by });
        }
        while rng.one_in(3) {
            let at_once = rng.one_in(2);
            let after = if at_once {
                Duration::ZERO
            } else {
                rng.duration(share)
            };
            faults.push(Fault::RepeatedEvent { event, after });
        }
    }
    if !scenario.answers.is_empty() {
        if rng.one_in(2) {
            let by = rng.duration(share);
            faults.push(Fault::LateAnswers { by });
        }
        if rng.one_in(3) {
            faults.push(Fault::RepeatedAnswers);
        }
    }
    while rng.one_in(3) {
        let bound = i64::try_from(share.as_millis()).unwrap_or(i64::MAX);
        let time = rng.duration(measured.lasted);
        let error_millis = rng.between(-bound, bound);
        faults.push(Fault::Clock { time, error_millis });
    }
    if rng.one_in(3) {
        faults.push(Fault::Eviction);
    }
    while !measured.may_fail.is_empty() && rng.one_in(2) {
        let place = rng.pick(&measured.may_fail).cloned().unwrap_or_default();
        let for_good = rng.one_in(3);
        faults.push(Fault::StepFails { place, for_good });
    }
    while !scenario.interventions.is_empty() && rng.one_in(2) {
        faults.push(intervention(rng, scenario, measured));
    }
    let crashes = 1 + rng.below(3);
    for _ in 0..crashes {
        faults.push(crash(rng, measured, share, crashes));
    }
    faults
}

/// Draws an intervention during the run, or after its end.
fn intervention(rng: &mut Rng, scenario: &Scenario, measured: &Measured) -> Fault {
    let what = rng.pick(&scenario.interventions).copied();
    Fault::Intervention {
        time: moment(rng, measured.lasted * 2),
        planned: Planned {
            what: what.unwrap_or(Intervention::Cancel),
            pick: rng.number(),
            pause: rng.duration(scenario.slack / 3),
        },
    }
}

/// Draws any moment with the same probability.
fn moment(rng: &mut Rng, longest: Duration) -> Duration {
    let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(rng.below(millis.saturating_add(1)))
}

fn crash(rng: &mut Rng, measured: &Measured, share: Duration, crashes: u64) -> Fault {
    let down = if rng.one_in(2) {
        Duration::ZERO
    } else {
        rng.duration(share / u32::try_from(crashes).unwrap_or(u32::MAX))
    };
    // The recovery after a crash adds commits.
    let commit = 1 + rng.below(measured.commits + crashes);
    match rng.below(5) {
        0 => Fault::CrashAt {
            time: rng.duration(measured.lasted),
            down,
        },
        1 | 2 => Fault::CrashBefore { commit, down },
        _ => Fault::CrashAfter { commit, down },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use everstep_engine::Runtime;
    use everstep_engine::simulation::VirtualRuntime;

    use super::*;

    #[tokio::test]
    async fn faults_do_not_repeat_the_numbers_of_the_engine() {
        for seed in 0..10 {
            let runtime = VirtualRuntime::new(seed);
            let engine: HashSet<u64> = (0..1_000).map(|_| runtime.random()).collect();
            let mut rng = fault_rng(seed);
            let repeated = (0..1_000).filter(|_| engine.contains(&rng.number()));
            assert_eq!(repeated.count(), 0, "seed {seed}");
        }
    }
}
