//! `everstep bench plot`: the charts of the results, one SVG each.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::case::Case;
use super::results::Results;
use super::svg::{Bar, Bars};

/// One chart: some figures of all cases of a workload that have them.
pub(super) struct Chart {
    /// Its name, and that of its file.
    pub(super) name: &'static str,
    pub(super) workload: &'static str,
    pub(super) title: &'static str,
    figures: &'static [&'static str],
}

pub(super) const CHARTS: [Chart; 9] = [
    Chart {
        name: "throughput",
        workload: "throughput",
        title: "Durable steps a second",
        figures: &["steps", "store alone", "bare log"],
    },
    Chart {
        name: "cpu",
        workload: "throughput",
        title: "Processor time of a step",
        figures: &["CPU per step", "store alone, CPU per step"],
    },
    Chart {
        name: "payload",
        workload: "payload",
        title: "Processor time of a step, by the size of its result",
        figures: &["CPU per step", "store alone, CPU per step"],
    },
    Chart {
        name: "remote",
        workload: "remote",
        title: "Durable steps a second, executed by a worker over HTTP",
        figures: &["steps"],
    },
    Chart {
        name: "fanout",
        workload: "fanout",
        title: "One run that does very many things at once",
        figures: &["run p50", "run p99"],
    },
    Chart {
        name: "replay",
        workload: "replay",
        title: "Resuming a cold run, for each of its steps",
        figures: &["of that, for each step"],
    },
    Chart {
        name: "loop",
        workload: "loop",
        title: "A loop that grows old",
        figures: &["resume"],
    },
    Chart {
        name: "appends",
        workload: "stream",
        title: "Appends to streams a second, over HTTP",
        figures: &["appends", "bare log"],
    },
    Chart {
        name: "delivery",
        workload: "stream",
        title: "From appending a message until a reader has it",
        figures: &["delivered p50", "delivered p99", "delivered p99.9"],
    },
];

impl Chart {
    /// The chart of these results, if they have its figures.
    fn draw(&self, results: &Results) -> Option<Bars> {
        let of_workload = results.workloads.iter();
        let cases = of_workload
            .filter(|measured| measured.workload == self.workload)
            .flat_map(|measured| &measured.cases);
        let groups: Vec<_> = cases
            .filter_map(|case| Some((case.case.clone(), self.bars(case)?)))
            .collect();
        (!groups.is_empty()).then(|| Bars {
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
                shown: figure.unit.shown(figure.median),
            })
        });
        bars.collect()
    }

    pub(super) fn is_in(&self, results: &Results) -> bool {
        self.draw(results).is_some()
    }
}

/// Writes all charts that the results have figures for.
pub(super) fn plot(results: &Results, folder: &Path) -> anyhow::Result<()> {
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
