//! `everstep bench page`: the results as Markdown, alone or in the place of the figures that a page already has.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;

use super::figure::Figure;
use super::plot::CHARTS;
use super::results::{Measured, Results};
use crate::ending::UsageError;

/// Between these lines a page has its figures.
const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";

/// The page with these figures instead of those that it has.
pub(super) fn refresh(results: &Results, page: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot refresh {}", page.display());
    let text = std::fs::read_to_string(page).with_context(cannot)?;
    let folder = page.file_stem().unwrap_or_default().to_string_lossy();
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.ok_or_else(|| UsageError {
        what: format!("{} has no place for figures", page.display()),
        remedy: format!("Write the lines `{BEGIN}` and `{END}` where they belong."),
    })?;
    let figures = markdown(results, Some(&folder));
    let text = format!("{before}{BEGIN}\n\n{figures}\n{END}{after}");
    std::fs::write(page, text).with_context(cannot)
}

/// All figures; with the charts, if they are in a folder.
pub(super) fn markdown(results: &Results, charts: Option<&str>) -> String {
    let mut text = format!(
        "Version {}, {} cores, {} s for each measurement, results of {} bytes unless it is said, threads for workflow code: {}.\n\n",
        results.version, results.cores, results.seconds, results.payload_bytes, results.workers
    );
    targets(results, &mut text);
    for measured in &results.workloads {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n### {}\n\n{}\n", measured.workload, measured.about);
        figures(measured, &mut text);
        for case in &measured.cases {
            if let Some(sentence) = &case.limited_by {
                let _ = write!(text, "\n{}: {sentence}\n", case.case);
            }
        }
        let Some(folder) = charts else { continue };
        for chart in &CHARTS {
            if chart.workload == measured.workload && chart.is_in(results) {
                let _ = write!(text, "\n![{}]({folder}/{}.svg)\n", chart.title, chart.name);
            }
        }
    }
    text
}

/// What has a target, and whether it was met.
fn targets(results: &Results, text: &mut String) {
    text.push_str(
        "| workload | case | figure | target | measured | |\n|---|---|---|---|---|---|\n",
    );
    for measured in &results.workloads {
        for case in &measured.cases {
            for figure in &case.figures {
                let Some(target) = &figure.target else {
                    continue;
                };
                let limit = target.shown(figure.unit);
                let verdict = case.verdict(target);
                let _ = writeln!(
                    text,
                    "| `{}` | {} | {} | {limit} ({}) | {} | {verdict} |",
                    measured.workload,
                    case.case,
                    figure.name,
                    target.means,
                    with_spread(figure)
                );
            }
        }
    }
}

/// All figures of a workload: a column for each case, those side by side that have the same figures.
fn figures(measured: &Measured, text: &mut String) {
    let names = |case: &super::case::Case| -> Vec<String> {
        case.figures.iter().map(|it| it.name.clone()).collect()
    };
    for alike in measured
        .cases
        .chunk_by(|one, other| names(one) == names(other))
    {
        let titles: Vec<&str> = alike.iter().map(|case| case.case.as_str()).collect();
        let _ = write!(text, "\n| | {} |\n|---|", titles.join(" | "));
        text.push_str(&"---|".repeat(alike.len()));
        text.push('\n');
        for name in alike.first().map(names).unwrap_or_default() {
            let cells = alike.iter().filter_map(|case| case.figure(&name));
            let cells: Vec<String> = cells.map(with_spread).collect();
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
    }
}

fn with_spread(figure: &Figure) -> String {
    let shown = |value| figure.unit.shown(value);
    if figure.low < figure.high {
        let (low, high) = (shown(figure.low), shown(figure.high));
        return format!("{} ({low} … {high})", shown(figure.median));
    }
    shown(figure.median)
}
