//! One case of a workload, such as 64 runs in flight: what its rounds measured, gathered by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::disk_limits::DiskSamples;
use super::figure::{Bound, Figure, Target, Unit};
use super::statistics::{median, percentile};

/// The name of the figure that all targets in syncs refer to.
const FDATASYNC: &str = "fdatasync";
/// What the quickest twentieth of them took at most.
const FDATASYNC_QUICK: &str = "fdatasync p5";
/// How many times as long a usual sync may take as a quick one. A disk alone stays far below; beyond, somebody else had the
/// processor or the disk, and neither the limits nor the ratios to them mean anything.
const QUIET_MAX: f64 = 2.0;

/// Values of several rounds, by name.
#[derive(Default)]
pub(super) struct Rounds {
    series: Vec<(String, Unit, Vec<f64>)>,
}

impl Rounds {
    /// What one round had.
    pub(super) fn add(&mut self, name: &str, unit: Unit, value: f64) {
        let known = self.series.iter_mut().find(|(known, ..)| known == name);
        match known {
            Some((_, _, values)) => values.push(value),
            None => self.series.push((name.to_owned(), unit, vec![value])),
        }
    }

    /// How the milliseconds of one round were distributed.
    pub(super) fn add_latencies(&mut self, name: &str, milliseconds: &mut [f64]) {
        for (percent, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            let value = percentile(milliseconds, share);
            self.add(&format!("{name} {percent}"), Unit::Milliseconds, value);
        }
    }

    /// What a bare sync took around one round.
    pub(super) fn add_sync(&mut self, disk: &DiskSamples) {
        let mut samples = disk.fdatasync_us.clone();
        let quick = percentile(&mut samples, 0.05);
        self.add(FDATASYNC, Unit::Microseconds, median(&samples));
        self.add(FDATASYNC_QUICK, Unit::Microseconds, quick);
    }

    pub(super) fn into_case(self, case: impl Into<String>) -> Case {
        let series = self.series.into_iter();
        let figures: Vec<_> = series
            .map(|(name, unit, values)| Figure::of(name, unit, values))
            .collect();
        let mut case = Case {
            case: case.into(),
            values: figures.iter().map(|it| (it.key(), it.median)).collect(),
            figures,
            disturbed: false,
            limited_by: None,
        };
        let (usual, quick) = (case.figure(FDATASYNC), case.figure(FDATASYNC_QUICK));
        case.disturbed = usual
            .zip(quick)
            .is_some_and(|(usual, quick)| usual.high > QUIET_MAX * quick.low);
        case
    }
}

/// The figures of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) case: String,
    /// The medians by keys that programs read, such as `steps_per_second`.
    #[serde(flatten)]
    values: BTreeMap<String, f64>,
    pub(super) figures: Vec<Figure>,
    /// Whether others used the machine meanwhile, by what bare syncs took. Targets are neither met nor missed then.
    pub(super) disturbed: bool,
    /// A sentence on what keeps it from being better, where the figures tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) limited_by: Option<String>,
}

impl Case {
    pub(super) fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The median of a figure; 0 if there is none of that name.
    pub(super) fn value(&self, name: &str) -> f64 {
        self.figure(name).map_or(0.0, |figure| figure.median)
    }

    /// Whether a target was met, in a word.
    pub(super) fn verdict(&self, target: &Target) -> &'static str {
        match (self.disturbed, target.met) {
            (true, _) => "DISTURBED",
            (false, true) => "met",
            (false, false) => "MISSED",
        }
    }

    /// Milliseconds of a bare sync.
    pub(super) fn sync_ms(&self) -> f64 {
        self.value(FDATASYNC) / 1e3
    }

    /// What a figure should reach.
    pub(super) fn aim(mut self, name: &str, bound: Bound, value: f64, means: &str) -> Self {
        for figure in &mut self.figures {
            if figure.name == name {
                figure.aim(bound, value, means);
            }
        }
        self
    }

    pub(super) fn limited_by(mut self, sentence: String) -> Self {
        self.limited_by = Some(sentence);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_of_its_rounds_with_their_spread() {
        let mut rounds = Rounds::default();
        for (steps, mut latencies) in [(3.0, [1.0, 2.0, 9.0]), (5.0, [2.0, 3.0, 9.0])] {
            rounds.add("steps", Unit::PerSecond, steps);
            rounds.add_latencies("run", &mut latencies);
        }
        let case = rounds
            .into_case("alone")
            .aim("run p99", Bound::AtMost, 9.0, "nine");
        let names: Vec<&str> = case.figures.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["steps", "run p50", "run p99", "run p99.9"]);
        let steps = case.figures.first().unwrap();
        assert_eq!((steps.low, steps.high), (3.0, 5.0));
        let targets = case.figures.iter().filter(|it| it.target.is_some());
        assert_eq!(targets.count(), 1);
        assert_eq!(case.value("run p99"), 9.0);
        assert_eq!(case.value("nothing"), 0.0);
    }

    fn case_with_syncs(rounds_us: [[f64; 3]; 2]) -> Case {
        let mut rounds = Rounds::default();
        for fdatasync_us in rounds_us {
            rounds.add_sync(&DiskSamples {
                fdatasync_us: fdatasync_us.to_vec(),
                log_per_second: Vec::new(),
            });
        }
        let case = rounds.into_case("alone");
        case.aim(FDATASYNC, Bound::AtMost, 1e6, "anything")
    }

    #[test]
    fn a_machine_that_others_use_gives_no_verdict() {
        let quiet = [[190.0, 200.0, 900.0], [195.0, 210.0, 400.0]];
        let waited = [[190.0, 4_000.0, 4_000.0], [195.0, 210.0, 400.0]];
        for (syncs, verdict) in [(quiet, "met"), (waited, "DISTURBED")] {
            let case = case_with_syncs(syncs);
            let figure = case.figure(FDATASYNC).unwrap();
            assert_eq!(case.verdict(figure.target.as_ref().unwrap()), verdict);
        }
    }
}
