//! `everstep bench page`: renders results as Markdown, to stdout or into an existing page.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;

use crate::arguments::UsageError;
use crate::case::Case;
use crate::figure::Figure;
use crate::plot::CHARTS;
use crate::results::{Measured, Results};

/// The lines that enclose the figures in a page.
const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";

/// Replaces the figures in a page.
pub(crate) fn refresh(results: &Results, page: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot refresh {}", page.display());
    let text = std::fs::read_to_string(page).with_context(cannot)?;
    let folder = page.file_stem().unwrap_or_default().to_string_lossy();
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.ok_or_else(|| UsageError {
        what: format!(
            "{} does not contain the markers for the figures",
            page.display()
        ),
        remedy: format!("Add the lines `{BEGIN}` and `{END}` where the figures belong."),
    })?;
    let figures = markdown(results, Some(&folder));
    let text = format!("{before}{BEGIN}\n\n{figures}\n{END}{after}");
    std::fs::write(page, text).with_context(cannot)
}

/// Renders all figures, and links to the charts if `charts` names their folder.
pub(crate) fn markdown(results: &Results, charts: Option<&str>) -> String {
    let mut text = format!(
        "Version {}, {} cores, rounds of {} s, step results of {} bytes by default, {} worker threads.\n\n",
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
        for chart in CHARTS {
            if chart.workload == measured.workload && chart.draw(results).is_some() {
                let _ = write!(text, "\n![{}]({folder}/{}.svg)\n", chart.title, chart.name);
            }
        }
    }
    text
}

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
                let limit = target.format(figure.unit);
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

/// Renders the figures of a workload with a column per case. Consecutive cases with the same
/// figures share a table.
fn figures(measured: &Measured, text: &mut String) {
    let names =
        |case: &Case| -> Vec<String> { case.figures.iter().map(|it| it.name.clone()).collect() };
    for group in measured
        .cases
        .chunk_by(|one, other| names(one) == names(other))
    {
        let titles: Vec<&str> = group.iter().map(|case| case.case.as_str()).collect();
        let _ = write!(text, "\n| | {} |\n|---|", titles.join(" | "));
        text.push_str(&"---|".repeat(group.len()));
        text.push('\n');
        for name in group.first().map(names).unwrap_or_default() {
            let cells = group.iter().filter_map(|case| case.figure(&name));
            let cells: Vec<String> = cells.map(with_spread).collect();
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
    }
}

fn with_spread(figure: &Figure) -> String {
    let median = figure.unit.format(figure.median);
    match figure.spread() {
        Some(spread) => format!("{median} ({spread})"),
        None => median,
    }
}
