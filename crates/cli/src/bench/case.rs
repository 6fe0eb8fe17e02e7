//! One case of a workload, such as 64 runs in flight: what its rounds measured, gathered by name.

use serde::{Deserialize, Serialize};

use super::disk_limits::DiskSamples;
use super::figure::{Bound, Figure, Unit};
use super::statistics::{median, percentile};

/// The name of the figure that all targets in syncs refer to.
const FDATASYNC: &str = "fdatasync";

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
        self.add(FDATASYNC, Unit::Microseconds, median(&disk.fdatasync_us));
    }

    pub(super) fn into_case(self, case: impl Into<String>) -> Case {
        let series = self.series.into_iter();
        Case {
            case: case.into(),
            figures: series
                .map(|(name, unit, values)| Figure::of(name, unit, values))
                .collect(),
            limited_by: None,
        }
    }
}

/// The figures of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) case: String,
    pub(super) figures: Vec<Figure>,
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
}
