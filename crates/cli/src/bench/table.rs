//! The results for people: one line a figure, with the spread of its rounds and what it should reach.

use super::case::Case;
use super::figure::Figure;
use super::results::Results;

/// A sync faster than this did not reach a disk.
const FASTEST_DISK_MS: f64 = 0.01;

pub(super) fn table(results: &Results) -> String {
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
        text.push_str(
            "A sync this fast did not reach a disk: name a directory on one with --data.\n",
        );
    }
    text.truncate(text.trim_end().len());
    text
}

fn lines(case: &Case, text: &mut String) {
    let width = |of: fn(&Figure) -> usize| case.figures.iter().map(of).max().unwrap_or_default();
    let names = width(|figure| figure.name.chars().count());
    let values = width(|figure| figure.unit.shown(figure.median).chars().count());
    for figure in &case.figures {
        let value = figure.unit.shown(figure.median);
        let mut line = format!("    {:<names$}  {value:>values$}", figure.name);
        if figure.low < figure.high {
            let (low, high) = (
                figure.unit.shown(figure.low),
                figure.unit.shown(figure.high),
            );
            line.push_str(&format!("   {low} … {high}"));
        }
        if let Some(target) = &figure.target {
            let verdict = case.verdict(target);
            let limit = target.shown(figure.unit);
            line.push_str(&format!("   target {limit} ({}): {verdict}", target.means));
        }
        text.push_str(&line);
        text.push('\n');
    }
    if case.disturbed {
        text.push_str("    Others used the machine meanwhile: bare syncs waited. Measure again when it is quiet.\n");
    }
    if let Some(sentence) = &case.limited_by {
        text.push_str(&format!("    {sentence}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Rounds;
    use super::super::figure::{Bound, Unit};
    use super::super::results::Measured;
    use super::*;

    #[test]
    fn each_figure_has_a_line_with_its_spread_and_its_target() {
        let mut rounds = Rounds::default();
        rounds.add("fdatasync", Unit::Microseconds, 200.0);
        rounds.add("run", Unit::Milliseconds, 2.0);
        rounds.add("run", Unit::Milliseconds, 4.0);
        let case = rounds.into_case("alone");
        let case = case.aim("run", Bound::AtMost, 3.0, "three");
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
