//! A figure: its values over several rounds, its unit, and its target.

use serde::{Deserialize, Serialize};

use crate::statistics::percentile;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ms")]
    Milliseconds,
    PerSecond,
    Bytes,
    Ratio,
    /// Average number of busy processor cores.
    Cores,
    Count,
}

impl Unit {
    /// Formats a value with its unit.
    pub(crate) fn format(self, value: f64) -> String {
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

/// Turns a name into a JSON key: lower case, with an underscore for everything else.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        if !slug.is_empty() && !word.is_empty() {
            slug.push('_');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

/// Formats a number with about three significant digits and thousands separators.
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
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() {
        return grouped;
    }
    format!("{grouped}.{fraction}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
}

/// The value that a figure should reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) bound: Bound,
    pub(crate) value: f64,
    /// The origin of the value, such as `1 fdatasync + 1 ms`.
    pub(crate) means: String,
    pub(crate) met: bool,
}

impl Target {
    /// Formats the target, such as `≤ 1.21 ms`.
    pub(crate) fn format(&self, unit: Unit) -> String {
        let sign = match self.bound {
            Bound::AtMost => '≤',
            Bound::AtLeast => '≥',
        };
        format!("{sign} {}", unit.format(self.value))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// Median, lowest and highest value of the rounds.
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
}

impl Figure {
    /// The JSON key, such as `steps_per_second`, `cpu_us_per_step` or `ratio_to_store`.
    pub(crate) fn key(&self) -> String {
        let name = self.name.as_str();
        match self.unit {
            Unit::Microseconds if name.starts_with("CPU ") => {
                format!("cpu_us_{}", slug(name.trim_start_matches("CPU ")))
            }
            Unit::Microseconds => format!("{}_us", slug(name)),
            Unit::Milliseconds => format!("{}_ms", slug(name)),
            Unit::PerSecond => format!("{}_per_second", slug(name)),
            Unit::Bytes => format!("{}_bytes", slug(name)),
            Unit::Cores => format!("{}_cores", slug(name)),
            Unit::Ratio | Unit::Count => slug(name),
        }
    }

    /// Summarises the values of all rounds.
    pub(crate) fn of(name: String, unit: Unit, mut rounds: Vec<f64>) -> Self {
        Self {
            name,
            unit,
            median: percentile(&mut rounds, 0.5),
            low: percentile(&mut rounds, 0.0),
            high: percentile(&mut rounds, 1.0),
            target: None,
        }
    }

    pub(crate) fn set_target(&mut self, bound: Bound, value: f64, means: &str) {
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
    fn numbers_have_about_three_significant_digits() {
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
    fn keys_contain_the_unit() {
        for (name, unit, key) in [
            ("steps", Unit::PerSecond, "steps_per_second"),
            ("ratio to store", Unit::Ratio, "ratio_to_store"),
            ("ratio to log", Unit::Ratio, "ratio_to_log"),
            (
                "ratio to 11 fdatasyncs",
                Unit::Ratio,
                "ratio_to_11_fdatasyncs",
            ),
            ("CPU per step", Unit::Microseconds, "cpu_us_per_step"),
            ("run p99.9", Unit::Milliseconds, "run_p99_9_ms"),
            ("memory, no runs", Unit::Bytes, "memory_no_runs_bytes"),
            ("samples", Unit::Count, "samples"),
        ] {
            assert_eq!(Figure::of(name.to_owned(), unit, vec![1.0]).key(), key);
        }
    }

    #[test]
    fn a_target_is_a_lower_or_an_upper_bound() {
        let mut figure = Figure::of("x".to_owned(), Unit::Count, vec![3.0, 1.0, 2.0]);
        assert_eq!((figure.median, figure.low, figure.high), (2.0, 1.0, 3.0));
        for (bound, value, met) in [
            (Bound::AtMost, 2.0, true),
            (Bound::AtMost, 1.9, false),
            (Bound::AtLeast, 2.0, true),
            (Bound::AtLeast, 2.1, false),
        ] {
            figure.set_target(bound, value, "");
            assert_eq!(figure.target.as_ref().unwrap().met, met);
        }
    }
}
