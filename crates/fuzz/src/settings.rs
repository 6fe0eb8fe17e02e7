//! The duration and the seed, from the environment variables that `cargo xtask fuzz` sets.

use std::time::{Duration, SystemTime};

/// The number of mutated inputs per target in the tests.
const CASES: u64 = 4_000;
/// The fixed seed of the tests. Longer runs use a new one each time.
const SEED: u64 = 0x0e5e_57e9;

pub(crate) struct Settings {
    pub(crate) target: String,
    pub(crate) seed: u64,
    pub(crate) length: Length,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Cases(u64),
    Time(Duration),
    /// Run only this case.
    Only(u64),
}

impl Settings {
    pub(crate) fn from_environment(target: &str) -> Self {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let minutes = number("EVERSTEP_FUZZ_MINUTES");
        let length = match (number("EVERSTEP_FUZZ_CASE"), minutes) {
            (Some(case), _) => Length::Only(case),
            (None, Some(minutes)) => Length::Time(Duration::from_secs(60 * minutes)),
            (None, None) => Length::Cases(CASES),
        };
        let seed = number("EVERSTEP_FUZZ_SEED");
        Self {
            target: target.to_owned(),
            seed: seed.unwrap_or_else(|| minutes.map_or(SEED, |_| seed_from_clock())),
            length,
        }
    }

    /// Whether to store failing inputs in the corpus. The tests do not, because they must not
    /// change the sources.
    pub(crate) fn keeps_findings(&self) -> bool {
        matches!(self.length, Length::Time(_))
    }
}

fn seed_from_clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(SEED, |since| since.as_micros() as u64)
}
