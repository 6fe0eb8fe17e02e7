//! What can go wrong, and when it does. Whether a call meets a fault follows from the seed, the number of the call and the
//! kind of fault alone, so that leaving out one kind leaves the others where they are.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::Plan;
use crate::rng::Rng;

macro_rules! kinds {
    ($($kind:ident, $name:literal, $about:literal;)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FaultKind { $(#[doc = $about] $kind,)* }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// What it is called on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// The kind of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$kind),)* _ => None }
            }
        }
    };
}

kinds! {
    Delay, "delay", "A call or its answer takes long; others overtake it.";
    FailBefore, "fail-before", "A call fails and has changed nothing.";
    FailAfter, "fail-after", "A call fails and has taken effect.";
    Late, "late", "A call fails, and takes effect some time later.";
    Repeat, "repeat", "A call arrives twice, the second time later.";
    CrashBefore, "crash-before", "The node dies before the call takes effect.";
    CrashAfter, "crash-after", "The node dies after the call took effect and before it hears so.";
    Outage, "outage", "The store is out of reach of a node for a while.";
    Pause, "pause", "A node stands still, mostly for longer than its lease.";
    Skew, "skew", "The clock of a node is wrong from the start.";
    Jump, "jump", "The clock of a node jumps.";
    Restart, "restart", "A node is shut down in order and started again.";
    HintLost, "hint-lost", "A hint does not arrive.";
    HintRepeated, "hint-repeated", "A hint arrives twice.";
    HintDelayed, "hint-delayed", "A hint arrives late.";
    ReplyLost, "reply-lost", "A client does not hear what became of its request.";
    StoreCrash, "store-crash", "The store crashes, and is back after a while with what is durable.";
    ClaimForgotten, "claim-forgotten", "A claim is granted and forgotten: the store failed over to a replica that lags behind.";
}

/// How a call of the store ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is answered.
    Answered,
    /// See [`FaultKind`].
    Fault(FaultKind),
}

/// What happens to one call of the store.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    /// Until it takes effect.
    pub before: Duration,
    /// From its effect to the answer.
    pub after: Duration,
    /// How it ends.
    pub ending: Ending,
    /// How much later it takes effect, once more or at all.
    pub later: Duration,
}

/// The faults of a simulation.
#[derive(Debug)]
pub struct Faults {
    seed: u64,
    per_mille: u64,
    is_on: bool,
    left: u64,
    without: Vec<FaultKind>,
    counts: BTreeMap<FaultKind, u64>,
    script: Option<Script>,
}

/// Crashes at chosen calls, and nothing else.
#[derive(Debug)]
struct Script {
    crashes: BTreeMap<u64, FaultKind>,
    /// The numbers of all calls so far.
    calls: Vec<u64>,
}

/// How calls fail, and how often in comparison.
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
    /// The faults of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
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

    /// Whether all crashes are chosen.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.script.is_some()
    }

    /// The calls of store and bus so far, if all crashes are chosen.
    #[must_use]
    pub fn calls(&self) -> &[u64] {
        self.script.as_ref().map_or(&[], |script| &script.calls)
    }

    /// The crash that was chosen for this call, if any.
    pub fn chosen(&mut self, call: u64) -> Option<FaultKind> {
        let script = self.script.as_mut()?;
        script.calls.push(call);
        let kind = script.crashes.get(&call).copied()?;
        *self.counts.entry(kind).or_default() += 1;
        Some(kind)
    }

    /// From now on nothing goes wrong.
    pub fn stop(&mut self) {
        self.is_on = false;
    }

    /// How often each kind has happened.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<FaultKind, u64> {
        &self.counts
    }

    /// Whether this one happens, if it is likely in so many of ten thousand cases. If so, it is counted.
    pub fn strikes(&mut self, kind: FaultKind, occasion: u64, likely: u64) -> bool {
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

    /// What happens to the call of this number.
    pub fn fate(&mut self, call: u64) -> Fate {
        let mut rng = Rng::new(self.seed ^ call.rotate_left(20), 99);
        let millis = |rng: &mut Rng, range| Duration::from_millis(rng.within(range));
        let mut fate = Fate {
            before: Duration::ZERO,
            after: Duration::ZERO,
            ending: Ending::Answered,
            later: millis(&mut rng, 1..4_000),
        };
        if rng.one_in(2) {
            fate.before = Duration::from_micros(rng.within(1..3_000));
            fate.after = Duration::from_micros(rng.within(0..2_000));
        }
        if let Some(kind) = self.chosen(call) {
            fate.ending = Ending::Fault(kind);
        }
        for (kind, weight) in OF_CALLS {
            // The weights sum up to 24: a call meets some fault in `per_mille` of a thousand cases.
            let likely = self.per_mille * 10 * weight / 24;
            if self.strikes(*kind, call, likely) {
                fate.ending = Ending::Fault(*kind);
                break;
            }
        }
        if fate.ending == Ending::Fault(FaultKind::Delay) {
            fate.ending = Ending::Answered;
            fate.before = millis(&mut rng, 0..3_000);
            fate.after = millis(&mut rng, 0..3_000);
        }
        fate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Limits;

    #[test]
    fn every_kind_has_a_name_it_is_found_by() {
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::named(kind.name()), Some(*kind));
        }
    }

    #[test]
    fn leaving_out_a_kind_leaves_the_others_where_they_are() {
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
