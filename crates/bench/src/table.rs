//! The results as text: one line per figure, with the spread of its rounds and its target.

use crate::case::Case;
use crate::figure::Figure;
use crate::results::Results;

/// Faster syncs did not reach a disk.
const FASTEST_DISK_MS: f64 = 0.01;

pub(crate) fn table(results: &Results) -> String {
    let mut text = String::new();
    let mut is_disk = true;
    for measured in &results.workloads {
        text.push_str(&format!("{}: {}\n", measured.workload, measured.about));
        for case in &measured.cases {
            text.push_str(&format!("\n  {}\n", case.case));
            lines(case, &mut text);
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

fn lines(case: &Case, text: &mut String) {
    let width = |of: fn(&Figure) -> usize| case.figures.iter().map(of).max().unwrap_or_default();
    let names = width(|figure| figure.name.chars().count());
    let values = width(|figure| figure.unit.format(figure.median).chars().count());
    for figure in &case.figures {
        let value = figure.unit.format(figure.median);
        let mut line = format!("    {:<names$}  {value:>values$}", figure.name);
        if figure.low < figure.high {
            let (low, high) = (
                figure.unit.format(figure.low),
                figure.unit.format(figure.high),
            );
            line.push_str(&format!("   {low} … {high}"));
        }
        if let Some(target) = &figure.target {
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
mod tests {
    use super::*;
    use crate::case::Rounds;
    use crate::figure::{Bound, Unit};
    use crate::results::Measured;

    #[test]
    fn each_figure_has_a_line_with_its_spread_and_its_target() {
        let mut rounds = Rounds::default();
        rounds.add("fdatasync", Unit::Microseconds, 200.0);
        rounds.add("run", Unit::Milliseconds, 2.0);
        rounds.add("run", Unit::Milliseconds, 4.0);
        let case = rounds.into_case("alone");
        let case = case.with_target("run", Bound::AtMost, 3.0, "three");
        let results = Results {
            version: "1".to_owned(),
            cores: 2,
            workers: 2,
            seconds: 1,
            payload_bytes: 100,
            workloads: vec![Measured {
                workload: "start".to_owned(),
                about: "starts".to_owned(),
                cases: vec![case],
            }],
        };
        let expected = "\
start: starts

  alone
    fdatasync  200 µs
    run          4 ms   2 ms … 4 ms   target ≤ 3 ms (three): MISSED";
        assert_eq!(table(&results), expected);
    }
}
