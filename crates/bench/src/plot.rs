//! `everstep bench plot`: draws the charts, one SVG file each.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use crate::arguments::UsageError;
use crate::results::Results;
use crate::svg::BarChart;

/// A chart of some figures, over all cases of a workload that have them.
pub(crate) struct Chart {
    /// Also the name of the file.
    pub(crate) name: &'static str,
    pub(crate) workload: &'static str,
    pub(crate) title: &'static str,
    figures: &'static [&'static str],
}

/// One row per chart: `name of workload: title, figures`.
macro_rules! charts {
    ($($name:literal of $workload:literal: $title:literal, $figures:expr;)*) => {
        pub(crate) const CHARTS: &[Chart] = &[$(Chart {
            name: $name,
            workload: $workload,
            title: $title,
            figures: &$figures,
        }),*];
    };
}

charts! {
    "throughput" of "throughput": "Durable steps per second", ["steps", "store alone", "bare log"];
    "cpu" of "throughput": "Processor time per step", ["CPU per step", "store alone, CPU per step"];
    "payload" of "payload": "Processor time per step, by result size", ["CPU per step", "store alone, CPU per step"];
    "remote" of "remote": "Durable steps per second, executed by a worker over HTTP", ["steps"];
    "fanout" of "fanout": "One run with many parallel operations", ["run p50", "run p99"];
    "replay" of "replay": "Time to resume a cold run, per step", ["resume per step"];
    "loop" of "loop": "Time to resume a long loop", ["resume"];
    "appends" of "stream": "Appends to streams per second, over HTTP", ["appends", "bare log"];
    "delivery" of "stream": "Delivery latency from append to reader", ["delivered p50", "delivered p99", "delivered p99.9"];
}

impl Chart {
    /// Returns `None` if the results do not contain the figures of this chart.
    pub(crate) fn draw<'a>(&self, results: &'a Results) -> Option<BarChart<'a>> {
        let of_workload = results
            .workloads
            .iter()
            .filter(|it| it.workload == self.workload);
        let cases = of_workload.flat_map(|measured| &measured.cases);
        let groups = cases.filter_map(|case| {
            let bars: Option<_> = self.figures.iter().map(|name| case.figure(name)).collect();
            Some((case.case.as_str(), bars?))
        });
        let groups: Vec<_> = groups.collect();
        (!groups.is_empty()).then_some(BarChart {
            title: self.title,
            legend: self.figures,
            groups,
        })
    }
}

/// Draws all charts that the results have figures for. It is an error if there are none.
pub(crate) fn plot(results: &Results, folder: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot write to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    let charts = CHARTS.iter();
    let charts = charts.filter_map(|chart| Some((chart, chart.draw(results)?)));
    let charts: Vec<_> = charts.collect();
    if charts.is_empty() {
        return Err(without_charts(results).into());
    }
    for (chart, bars) in charts {
        let path = folder.join(format!("{}.svg", chart.name));
        std::fs::write(&path, bars.to_svg()).with_context(cannot)?;
        writeln!(std::io::stdout(), "{}", path.display())?;
    }
    Ok(())
}

fn without_charts(results: &Results) -> UsageError {
    let measured = results.workloads.iter().map(|it| it.workload.as_str());
    let measured: Vec<&str> = measured.collect();
    let mut drawn: Vec<&str> = CHARTS.iter().map(|chart| chart.workload).collect();
    drawn.dedup();
    UsageError {
        what: format!("there is no chart for {}", measured.join(", ")),
        remedy: format!("Charts exist for the workloads {}.", drawn.join(", ")),
    }
}
