//! The results as text: one line per figure, with the spread of its rounds and, on request, its
//! target.

use crate::case::Case;
use crate::figure::Figure;
use crate::results::Results;

/// Faster syncs did not reach a disk.
const FASTEST_DISK_MS: f64 = 0.01;

pub(crate) fn table(results: &Results, shows_targets: bool) -> String {
    let mut text = String::new();
    let mut is_disk = true;
    for measured in &results.workloads {
        text.push_str(&format!("{}: {}\n", measured.workload, measured.about));
        for case in &measured.cases {
            text.push_str(&format!("\n  {}\n", case.case));
            lines(case, shows_targets, &mut text);
            is_disk &= case.sync_ms() == 0.0 || case.sync_ms() >= FASTEST_DISK_MS;
        }
        text.push('\n');
    }
    if !is_disk {
        text.push_str("Syncs are too fast for a disk. Pass a directory on a disk with --data.\n");
    }
    text.truncate(text.trim_end().len());
    text
}

fn lines(case: &Case, shows_targets: bool, text: &mut String) {
    let width = |of: fn(&Figure) -> usize| case.figures.iter().map(of).max().unwrap_or_default();
    let names = width(|figure| figure.name.chars().count());
    let values = width(|figure| figure.unit.format(figure.median).chars().count());
    for figure in &case.figures {
        let value = figure.unit.format(figure.median);
        let mut line = format!("    {:<names$}  {value:>values$}", figure.name);
        if let Some(spread) = figure.spread() {
            line.push_str(&format!("   {spread}"));
        }
        if let Some(target) = figure.target.as_ref().filter(|_| shows_targets) {
            let verdict = case.verdict(target);
            let limit = target.format(figure.unit);
            line.push_str(&format!("   target {limit} ({}): {verdict}", target.means));
        }
        text.push_str(&line);
        text.push('\n');
    }
    if case.disturbed {
        text.push_str("    Other processes used the machine during this measurement. Repeat it on an idle machine.\n");
    }
    if let Some(sentence) = &case.limited_by {
        text.push_str(&format!("    {sentence}\n"));
    }
}

#[cfg(test)]
mod tests;
