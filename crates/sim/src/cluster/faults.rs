//! Decides which calls meet a fault. The decision follows from the seed, the number of the call and
//! the kind of fault alone, so that leaving out one kind does not move the others.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_engine::simulation::Rng;

use crate::plan::{FaultKind, Plan};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Answered,
    Fault(FaultKind),
}

/// What happens to one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPlan {
    /// The delay before it takes effect.
    pub(crate) before: Duration,
    /// The delay between its effect and the answer.
    pub(crate) after: Duration,
    pub(crate) ending: Ending,
    /// The delay of an effect without a waiting caller: a late or repeated call.
    pub(crate) later: Duration,
}

/// The faults of a simulation.
#[derive(Debug)]
pub(crate) struct Faults {
    seed: u64,
    per_mille: u64,
    is_on: bool,
    left: u64,
    without: Vec<FaultKind>,
    counts: BTreeMap<FaultKind, u64>,
    script: Option<Script>,
}

/// Crashes at given calls. No other fault happens.
#[derive(Debug)]
struct Script {
    crashes: BTreeMap<u64, FaultKind>,
    /// The numbers of all calls so far.
    calls: Vec<u64>,
}

/// The faults of calls with their relative frequency.
const OF_CALLS: &[(FaultKind, u64)] = &[
    (FaultKind::Delay, 6),
    (FaultKind::FailBefore, 4),
    (FaultKind::FailAfter, 5),
    (FaultKind::Late, 3),
    (FaultKind::Repeat, 3),
    (FaultKind::CrashBefore, 1),
    (FaultKind::CrashAfter, 2),
];

impl Faults {
    #[must_use]
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            seed: plan.seed,
            per_mille: plan.faults_per_mille,
            is_on: plan.case.is_none(),
            left: plan.limits.faults.unwrap_or(u64::MAX),
            without: plan.limits.without.iter().copied().collect(),
            counts: BTreeMap::new(),
            script: plan.case.as_ref().map(|case| Script {
                crashes: case
                    .crashes
                    .iter()
                    .map(|crash| (crash.call, crash.fault()))
                    .collect(),
                calls: Vec::new(),
            }),
        }
    }

    /// Whether the crashes are given by a case.
    #[must_use]
    pub(crate) fn is_scripted(&self) -> bool {
        self.script.is_some()
    }

    /// Returns the calls of store and bus so far, if the crashes are given by a case.
    #[must_use]
    pub(crate) fn calls(&self) -> &[u64] {
        self.script.as_ref().map_or(&[], |script| &script.calls)
    }

    /// Counts a call, and returns its crash if the case has one for it.
    pub(crate) fn scripted(&mut self, call: u64) -> Option<FaultKind> {
        let script = self.script.as_mut()?;
        script.calls.push(call);
        let kind = script.crashes.get(&call).copied()?;
        *self.counts.entry(kind).or_default() += 1;
        Some(kind)
    }

    /// Ends all faults.
    pub(crate) fn stop(&mut self) {
        self.is_on = false;
    }

    #[must_use]
    pub(crate) fn counts(&self) -> &BTreeMap<FaultKind, u64> {
        &self.counts
    }

    /// Decides whether a fault happens, with a probability in ten thousandths, and counts it.
    pub(crate) fn strikes(&mut self, kind: FaultKind, occasion: u64, likely: u64) -> bool {
        if !self.is_on || self.left == 0 || self.without.contains(&kind) {
            return false;
        }
        let mut rng = Rng::new(self.seed ^ occasion.rotate_left(20), 100 + kind as u64);
        if rng.below(10_000) >= likely {
            return false;
        }
        self.left -= 1;
        *self.counts.entry(kind).or_default() += 1;
        true
    }

    /// Decides what happens to a call.
    pub(crate) fn plan_call(&mut self, call: u64) -> CallPlan {
        let mut rng = Rng::new(self.seed ^ call.rotate_left(20), 99);
        let millis = |rng: &mut Rng, range| Duration::from_millis(rng.within(range));
        let mut plan = CallPlan {
            before: Duration::ZERO,
            after: Duration::ZERO,
            ending: Ending::Answered,
            later: millis(&mut rng, 1..4_000),
        };
        if rng.one_in(2) {
            plan.before = Duration::from_micros(rng.within(1..3_000));
            plan.after = Duration::from_micros(rng.within(0..2_000));
        }
        if let Some(kind) = self.scripted(call) {
            plan.ending = Ending::Fault(kind);
        }
        for (kind, weight) in OF_CALLS {
            // The weights sum up to 24, so that a call meets a fault with the probability
            // `per_mille`.
            let likely = self.per_mille * 10 * weight / 24;
            if self.strikes(*kind, call, likely) {
                plan.ending = Ending::Fault(*kind);
                break;
            }
        }
        if plan.ending == Ending::Fault(FaultKind::Delay) {
            plan.ending = Ending::Answered;
            plan.before = millis(&mut rng, 0..3_000);
            plan.after = millis(&mut rng, 0..3_000);
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Limits;

    #[test]
    fn leaving_out_a_kind_does_not_change_the_other_faults() {
        let happened = |without: &[FaultKind]| {
            let limits = Limits {
                without: without.iter().copied().collect(),
                ..Limits::default()
            };
            let mut faults = Faults::new(&Plan::new(3, limits));
            let is_late = |call: &u64| faults.strikes(FaultKind::Late, *call, 300);
            (0..1_000).filter(is_late).collect::<Vec<_>>()
        };
        assert!(!happened(&[]).is_empty());
        assert_eq!(happened(&[]), happened(&[FaultKind::Delay]));
        assert!(happened(&[FaultKind::Late]).is_empty());
    }
}
