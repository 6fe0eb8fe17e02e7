//! Bar charts as SVG: a group of bars per case, with the spread of the rounds and a label per bar.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
/// The width of the longest bar; the rest is for its label.
const BARS: f64 = 430.0;
const TOP: f64 = 54.0;
const BAR: f64 = 18.0;
const GAP: f64 = 14.0;
const LEGEND_STEP: f64 = 190.0;
/// The colours of the bars within a group.
const COLOURS: [&str; 4] = ["#2563eb", "#f59e0b", "#10b981", "#8b5cf6"];

pub(crate) struct Bar {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) label: String,
}

/// A chart whose groups all have the same bars.
pub(crate) struct BarChart {
    pub(crate) title: String,
    /// The names of the bars within a group.
    pub(crate) legend: Vec<String>,
    pub(crate) groups: Vec<(String, Vec<Bar>)>,
}

impl BarChart {
    pub(crate) fn to_svg(&self) -> String {
        let highest = self.all().map(|bar| bar.high).fold(0.0, f64::max);
        let scale = if highest > 0.0 { BARS / highest } else { 0.0 };
        let bars = self.all().count() as f64;
        let height = TOP + bars * BAR + (self.groups.len() as f64 + 1.0) * GAP;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        text(&mut svg, 12.0, 22.0, "font-size=\"15\"", &self.title);
        self.draw_legend(&mut svg);
        let mut y = TOP;
        for (label, bars) in &self.groups {
            let middle = y + bars.len() as f64 * BAR / 2.0 + 4.0;
            text(&mut svg, LEFT - 10.0, middle, "text-anchor=\"end\"", label);
            for (bar, colour) in bars.iter().zip(COLOURS) {
                bar.draw(&mut svg, y, scale, colour);
                y += BAR;
            }
            y += GAP;
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn all(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|(_, bars)| bars)
    }

    fn draw_legend(&self, svg: &mut String) {
        let mut x = LEFT;
        for (label, colour) in self.legend.iter().zip(COLOURS) {
            // Writing to a String cannot fail.
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"33\" width=\"10\" height=\"10\" fill=\"{colour}\"/>"
            );
            text(svg, x + 15.0, 42.0, "", label);
            x += LEGEND_STEP;
        }
    }
}

impl Bar {
    fn draw(&self, svg: &mut String, y: f64, scale: f64, colour: &str) {
        let (length, height) = (self.value * scale, BAR - 4.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
        );
        let (low, high) = (LEFT + self.low * scale, LEFT + self.high * scale);
        let middle = y + height / 2.0;
        if self.low < self.high {
            let _ = writeln!(
                svg,
                "<line x1=\"{low:.1}\" y1=\"{middle:.1}\" x2=\"{high:.1}\" y2=\"{middle:.1}\" stroke=\"#111827\"/>"
            );
        }
        let beside = LEFT + self.value.max(self.high) * scale + 6.0;
        text(svg, beside, middle + 4.0, "", &self.label);
    }
}

fn text(svg: &mut String, x: f64, y: f64, style: &str, words: &str) {
    let words = words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#111827\" {style}>{words}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_scaled_to_the_longest_and_text_is_escaped() {
        let bar = |value: f64| Bar {
            value,
            low: value,
            high: value,
            label: value.to_string(),
        };
        let chart = BarChart {
            title: "a < b".to_owned(),
            legend: vec!["steps".to_owned()],
            groups: vec![
                ("one".to_owned(), vec![bar(5.0)]),
                ("two".to_owned(), vec![bar(10.0)]),
            ],
        };
        let svg = chart.to_svg();
        assert!(svg.contains("a &lt; b"), "{svg}");
        assert!(svg.contains("width=\"215.0\"") && svg.contains("width=\"430.0\""));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
