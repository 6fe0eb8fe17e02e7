//! Bar charts as SVG: a group of bars per case, with the spread of the rounds and a label per bar.

use std::fmt::Write;

use crate::figure::Figure;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
/// The width of the longest bar; the rest is for its label.
const BARS: f64 = 430.0;
const TOP: f64 = 54.0;
const BAR: f64 = 18.0;
const GAP: f64 = 14.0;
const LEGEND_STEP: f64 = 190.0;
const COLOURS: [&str; 4] = ["#2563eb", "#f59e0b", "#10b981", "#8b5cf6"];

/// A chart whose groups all have the same figures, one bar each.
pub(crate) struct BarChart<'a> {
    pub(crate) title: &'a str,
    /// The names of the bars within a group.
    pub(crate) legend: &'a [&'a str],
    pub(crate) groups: Vec<(&'a str, Vec<&'a Figure>)>,
}

impl BarChart<'_> {
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
        text(&mut svg, 12.0, 22.0, "font-size=\"15\"", self.title);
        self.draw_legend(&mut svg);
        let mut y = TOP;
        for (label, bars) in &self.groups {
            let middle = y + bars.len() as f64 * BAR / 2.0 + 4.0;
            text(&mut svg, LEFT - 10.0, middle, "text-anchor=\"end\"", label);
            for (bar, colour) in bars.iter().zip(COLOURS) {
                draw_bar(&mut svg, bar, y, scale, colour);
                y += BAR;
            }
            y += GAP;
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn all(&self) -> impl Iterator<Item = &Figure> {
        self.groups
            .iter()
            .flat_map(|(_, bars)| bars.iter().copied())
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

fn draw_bar(svg: &mut String, figure: &Figure, y: f64, scale: f64, colour: &str) {
    let (length, height) = (figure.median * scale, BAR - 4.0);
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
    );
    let (low, high) = (LEFT + figure.low * scale, LEFT + figure.high * scale);
    let middle = y + height / 2.0;
    if figure.low < figure.high {
        let _ = writeln!(
            svg,
            "<line x1=\"{low:.1}\" y1=\"{middle:.1}\" x2=\"{high:.1}\" y2=\"{middle:.1}\" stroke=\"#111827\"/>"
        );
    }
    let label = figure.unit.format(figure.median);
    text(svg, high + 6.0, middle + 4.0, "", &label);
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
mod tests;
