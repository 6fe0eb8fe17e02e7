//! One case of a workload, such as 64 runs in flight: the values of its rounds, grouped by name.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::disk_limits::DiskSamples;
use crate::figure::{Bound, Figure, Target, Unit};
use crate::process::resident_bytes;
use crate::statistics::{median, percentile, ratio};

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

    /// Adds the processor time of one of `count` operations.
    pub(crate) fn add_cpu(&mut self, name: &str, cpu: Duration, count: usize) {
        let each = ratio(cpu.as_secs_f64() * 1e6, count as f64);
        self.add(name, Unit::Microseconds, each);
    }

    pub(crate) fn add_memory(&mut self) {
        self.add("memory", Unit::Bytes, resident_bytes());
    }

    /// Adds the sync times measured before and after one round.
    pub(crate) fn add_sync(&mut self, disk: &DiskSamples) {
        let mut samples = disk.fdatasync_us.clone();
        let quick = percentile(&mut samples, 0.05);
        self.add(FDATASYNC, Unit::Microseconds, median(&samples));
        self.add(FDATASYNC_QUICK, Unit::Microseconds, quick);
    }

    pub(crate) fn into_case(self, case: impl Into<String>) -> Case {
        let figures = self.series.into_iter();
        let figures = figures.map(|(name, unit, values)| Figure::of(name, unit, values));
        let figures: Vec<_> = figures.collect();
        let mut case = Case {
            case: case.into(),
            values: figures.iter().map(|it| (it.key(), it.median)).collect(),
            figures,
            disturbed: false,
            limited_by: None,
        };
        if let (Some(usual), Some(quick)) = (case.figure(FDATASYNC), case.figure(FDATASYNC_QUICK)) {
            case.disturbed = usual.high > QUIET_MAX * quick.low;
        }
        case
    }
}

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

    /// Adds an upper bound to a figure. `means` says where the target comes from.
    pub(crate) fn at_most(self, name: &str, value: f64, means: &str) -> Self {
        self.with_target(name, Bound::AtMost, value, means)
    }

    /// Adds a lower bound to a figure.
    pub(crate) fn at_least(self, name: &str, value: f64, means: &str) -> Self {
        self.with_target(name, Bound::AtLeast, value, means)
    }

    fn with_target(mut self, name: &str, bound: Bound, value: f64, means: &str) -> Self {
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
mod tests;
