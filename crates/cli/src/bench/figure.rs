//! One figure: its value over several rounds, its unit, and what it should reach.

use serde::{Deserialize, Serialize};

use super::statistics::percentile;

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ms")]
    Milliseconds,
    PerSecond,
    Bytes,
    /// How many times as much as something else.
    Ratio,
    /// Processor cores that are busy.
    Cores,
    Count,
}

impl Unit {
    /// A value with its unit, for people.
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            Self::Microseconds => format!("{} µs", number(value)),
            Self::Milliseconds => format!("{} ms", number(value)),
            Self::PerSecond => format!("{}/s", number(value)),
            Self::Bytes if value >= 1e6 => format!("{} MB", number(value / 1e6)),
            Self::Bytes => format!("{} bytes", number(value)),
            Self::Ratio => format!("{} ×", number(value)),
            Self::Cores => format!("{} cores", number(value)),
            Self::Count => number(value),
        }
    }
}

/// Three digits that matter, and thousands apart.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        whole if whole.fract() == 0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut apart = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && !apart.ends_with('-') {
            apart.push(',');
        }
        apart.push(digit);
    }
    if fraction.is_empty() {
        return apart;
    }
    format!("{apart}.{fraction}")
}

/// From which side a target is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bound {
    AtMost,
    AtLeast,
}

/// What a figure should reach on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Target {
    pub(super) bound: Bound,
    pub(super) value: f64,
    /// Where the value comes from, such as `1 fdatasync + 1 ms`.
    pub(super) means: String,
    pub(super) met: bool,
}

impl Target {
    /// For people, such as `≤ 1.21 ms`.
    pub(super) fn shown(&self, unit: Unit) -> String {
        let sign = match self.bound {
            Bound::AtMost => '≤',
            Bound::AtLeast => '≥',
        };
        format!("{sign} {}", unit.shown(self.value))
    }
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) unit: Unit,
    /// Of all rounds.
    pub(super) median: f64,
    /// The lowest of a round.
    pub(super) low: f64,
    /// The highest of a round.
    pub(super) high: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<Target>,
}

impl Figure {
    /// Of the values that the rounds had.
    pub(super) fn of(name: String, unit: Unit, mut rounds: Vec<f64>) -> Self {
        Self {
            name,
            unit,
            median: percentile(&mut rounds, 0.5),
            low: percentile(&mut rounds, 0.0),
            high: percentile(&mut rounds, 1.0),
            target: None,
        }
    }

    pub(super) fn aim(&mut self, bound: Bound, value: f64, means: &str) {
        let met = match bound {
            Bound::AtMost => self.median <= value,
            Bound::AtLeast => self.median >= value,
        };
        self.target = Some(Target {
            bound,
            value,
            means: means.to_owned(),
            met,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, shown) in [
            (0.0, "0"),
            (0.012_34, "0.0123"),
            (0.123_4, "0.12"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1_234_567.8, "1,234,568"),
            (-1_234.0, "-1,234"),
            (-123.0, "-123"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn a_target_is_met_from_its_side() {
        let mut figure = Figure::of("x".to_owned(), Unit::Count, vec![3.0, 1.0, 2.0]);
        assert_eq!((figure.median, figure.low, figure.high), (2.0, 1.0, 3.0));
        for (bound, value, met) in [
            (Bound::AtMost, 2.0, true),
            (Bound::AtMost, 1.9, false),
            (Bound::AtLeast, 2.0, true),
            (Bound::AtLeast, 2.1, false),
        ] {
            figure.aim(bound, value, "");
            assert_eq!(figure.target.as_ref().unwrap().met, met);
        }
    }
}
