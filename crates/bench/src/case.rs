//! One case of a workload, such as 64 runs in flight: the values of its rounds, grouped by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::disk_limits::DiskSamples;
use crate::figure::{Bound, Figure, Target, Unit};
use crate::statistics::{median, percentile};

/// The figure that all targets expressed in syncs refer to.
const FDATASYNC: &str = "fdatasync";
/// The fifth percentile of the sync times.
const FDATASYNC_QUICK: &str = "fdatasync p5";
/// The largest accepted ratio of a median sync to a quick one. A disk without other load stays far
/// below it. Above it, another process used the processor or the disk, and neither the limits nor
/// the ratios to them are meaningful.
const QUIET_MAX: f64 = 2.0;

/// The values of several rounds, by name.
#[derive(Default)]
pub(crate) struct Rounds {
    series: Vec<(String, Unit, Vec<f64>)>,
}

impl Rounds {
    /// Adds the value that one round measured.
    pub(crate) fn add(&mut self, name: &str, unit: Unit, value: f64) {
        let known = self.series.iter_mut().find(|(known, ..)| known == name);
        match known {
            Some((_, _, values)) => values.push(value),
            None => self.series.push((name.to_owned(), unit, vec![value])),
        }
    }

    /// Adds the percentiles of the latencies of one round.
    pub(crate) fn add_latencies(&mut self, name: &str, milliseconds: &mut [f64]) {
        for (percent, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            let value = percentile(milliseconds, share);
            self.add(&format!("{name} {percent}"), Unit::Milliseconds, value);
        }
    }

    /// Adds the sync times measured before and after one round.
    pub(crate) fn add_sync(&mut self, disk: &DiskSamples) {
        let mut samples = disk.fdatasync_us.clone();
        let quick = percentile(&mut samples, 0.05);
        self.add(FDATASYNC, Unit::Microseconds, median(&samples));
        self.add(FDATASYNC_QUICK, Unit::Microseconds, quick);
    }

    pub(crate) fn into_case(self, case: impl Into<String>) -> Case {
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
pub(crate) struct Case {
    pub(crate) case: String,
    /// The medians under the keys for programs, such as `steps_per_second`.
    #[serde(flatten)]
    values: BTreeMap<String, f64>,
    pub(crate) figures: Vec<Figure>,
    /// Whether sync times indicate that other processes used the machine. Targets then have no
    /// verdict.
    pub(crate) disturbed: bool,
    /// A sentence that names the bottleneck, where the figures show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limited_by: Option<String>,
}

impl Case {
    pub(crate) fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The median of a figure; 0 if there is none of that name.
    pub(crate) fn value(&self, name: &str) -> f64 {
        self.figure(name).map_or(0.0, |figure| figure.median)
    }

    pub(crate) fn verdict(&self, target: &Target) -> &'static str {
        match (self.disturbed, target.met) {
            (true, _) => "DISTURBED",
            (false, true) => "met",
            (false, false) => "MISSED",
        }
    }

    /// The median duration of a bare sync in milliseconds.
    pub(crate) fn sync_ms(&self) -> f64 {
        self.value(FDATASYNC) / 1e3
    }

    /// Adds a target to a figure. `means` says where the target comes from.
    pub(crate) fn with_target(mut self, name: &str, bound: Bound, value: f64, means: &str) -> Self {
        for figure in &mut self.figures {
            if figure.name == name {
                figure.set_target(bound, value, means);
            }
        }
        self
    }

    pub(crate) fn limited_by(mut self, sentence: String) -> Self {
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
            .with_target("run p99", Bound::AtMost, 9.0, "nine");
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
        case.with_target(FDATASYNC, Bound::AtMost, 1e6, "anything")
    }

    #[test]
    fn a_disturbed_machine_gives_no_verdict() {
        let quiet = [[190.0, 200.0, 900.0], [195.0, 210.0, 400.0]];
        let disturbed = [[190.0, 4_000.0, 4_000.0], [195.0, 210.0, 400.0]];
        for (syncs, verdict) in [(quiet, "met"), (disturbed, "DISTURBED")] {
            let case = case_with_syncs(syncs);
            let figure = case.figure(FDATASYNC).unwrap();
            assert_eq!(case.verdict(figure.target.as_ref().unwrap()), verdict);
        }
    }
}
