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
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase);
    words.collect::<Vec<_>>().join("_")
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
        let name = slug(&self.name);
        match self.unit {
            Unit::Microseconds => match name.strip_prefix("cpu_") {
                Some(rest) => format!("cpu_us_{rest}"),
                None => format!("{name}_us"),
            },
            Unit::Milliseconds => format!("{name}_ms"),
            Unit::PerSecond => format!("{name}_per_second"),
            Unit::Bytes => format!("{name}_bytes"),
            Unit::Cores => format!("{name}_cores"),
            Unit::Ratio | Unit::Count => name,
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

    /// The lowest and the highest value, if they differ.
    pub(crate) fn spread(&self) -> Option<String> {
        let (low, high) = (self.unit.format(self.low), self.unit.format(self.high));
        (self.low < self.high).then(|| format!("{low} … {high}"))
    }

    pub(crate) fn set_target(&mut self, bound: Bound, value: f64, means: &str) {
        self.target = Some(Target {
            bound,
            value,
            means: means.to_owned(),
            met: match bound {
                Bound::AtMost => self.median <= value,
                Bound::AtLeast => self.median >= value,
            },
        });
    }
}

#[cfg(test)]
mod tests;
