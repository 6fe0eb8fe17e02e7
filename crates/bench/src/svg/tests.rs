//! Scale and escaping of a chart.

use super::*;
use crate::figure::Unit;

#[test]
fn bars_are_scaled_to_the_longest_and_text_is_escaped() {
    let bar = |value: f64| Figure::of("steps".to_owned(), Unit::Count, vec![value]);
    let (one, two) = (bar(5.0), bar(10.0));
    let chart = BarChart {
        title: "a < b",
        legend: &["steps"],
        groups: vec![("one", vec![&one]), ("two", vec![&two])],
    };
    let svg = chart.to_svg();
    assert!(svg.contains("a &lt; b"), "{svg}");
    assert!(svg.contains("width=\"215.0\"") && svg.contains("width=\"430.0\""));
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
}
