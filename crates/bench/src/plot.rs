//! `everstep bench plot`: draws the charts, one SVG file each.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use crate::case::Case;
use crate::results::Results;
use crate::svg::{Bar, BarChart};

/// A chart of some figures, over all cases of a workload that have them.
pub(crate) struct Chart {
    /// Also the name of the file.
    pub(crate) name: &'static str,
    pub(crate) workload: &'static str,
    pub(crate) title: &'static str,
    figures: &'static [&'static str],
}

pub(crate) const CHARTS: [Chart; 9] = [
    Chart {
        name: "throughput",
        workload: "throughput",
        title: "Durable steps per second",
        figures: &["steps", "store alone", "bare log"],
    },
    Chart {
        name: "cpu",
        workload: "throughput",
        title: "Processor time per step",
        figures: &["CPU per step", "store alone, CPU per step"],
    },
    Chart {
        name: "payload",
        workload: "payload",
        title: "Processor time per step, by result size",
        figures: &["CPU per step", "store alone, CPU per step"],
    },
    Chart {
        name: "remote",
        workload: "remote",
        title: "Durable steps per second, executed by a worker over HTTP",
        figures: &["steps"],
    },
    Chart {
        name: "fanout",
        workload: "fanout",
        title: "One run with many parallel operations",
        figures: &["run p50", "run p99"],
    },
    Chart {
        name: "replay",
        workload: "replay",
        title: "Time to resume a cold run, per step",
        figures: &["resume per step"],
    },
    Chart {
        name: "loop",
        workload: "loop",
        title: "Time to resume a long loop",
        figures: &["resume"],
    },
    Chart {
        name: "appends",
        workload: "stream",
        title: "Appends to streams per second, over HTTP",
        figures: &["appends", "bare log"],
    },
    Chart {
        name: "delivery",
        workload: "stream",
        title: "Delivery latency from append to reader",
        figures: &["delivered p50", "delivered p99", "delivered p99.9"],
    },
];

impl Chart {
    /// Returns `None` if the results do not contain the figures of this chart.
    fn draw(&self, results: &Results) -> Option<BarChart> {
        let of_workload = results.workloads.iter();
        let cases = of_workload
            .filter(|measured| measured.workload == self.workload)
            .flat_map(|measured| &measured.cases);
        let groups: Vec<_> = cases
            .filter_map(|case| Some((case.case.clone(), self.bars(case)?)))
            .collect();
        (!groups.is_empty()).then(|| BarChart {
            title: self.title.to_owned(),
            legend: self.figures.iter().map(ToString::to_string).collect(),
            groups,
        })
    }

    fn bars(&self, case: &Case) -> Option<Vec<Bar>> {
        let bars = self.figures.iter().map(|name| {
            let figure = case.figure(name)?;
            Some(Bar {
                value: figure.median,
                low: figure.low,
                high: figure.high,
                label: figure.unit.format(figure.median),
            })
        });
        bars.collect()
    }

    pub(crate) fn has_figures_in(&self, results: &Results) -> bool {
        self.draw(results).is_some()
    }
}

/// Draws all charts that the results have figures for.
pub(crate) fn plot(results: &Results, folder: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot write to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    for chart in &CHARTS {
        let Some(bars) = chart.draw(results) else {
            continue;
        };
        let path = folder.join(format!("{}.svg", chart.name));
        std::fs::write(&path, bars.to_svg()).with_context(cannot)?;
        writeln!(std::io::stdout(), "{}", path.display())?;
    }
    Ok(())
}
