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

/// A name as a key: small letters, and what is neither letter nor digit is a line.
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
    /// What programs call it: `steps_per_second`, `cpu_us_per_step`, `ratio_to_store`.
    pub(super) fn key(&self) -> String {
        let name = self.name.as_str();
        match self.unit {
            Unit::Microseconds if name.starts_with("CPU ") => {
                format!("cpu_us_{}", slug(name.trim_start_matches("CPU ")))
            }
            Unit::Ratio if name.starts_with("of ") => {
                let of = name.trim_start_matches("of ").trim_start_matches("the ");
                format!("ratio_to_{}", slug(of))
            }
            Unit::Microseconds => format!("{}_us", slug(name)),
            Unit::Milliseconds => format!("{}_ms", slug(name)),
            Unit::PerSecond => format!("{}_per_second", slug(name)),
            Unit::Bytes => format!("{}_bytes", slug(name)),
            Unit::Cores => format!("{}_cores", slug(name)),
            Unit::Ratio | Unit::Count => slug(name),
        }
    }

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
    fn programs_read_keys_with_units() {
        for (name, unit, key) in [
            ("steps", Unit::PerSecond, "steps_per_second"),
            ("of the store", Unit::Ratio, "ratio_to_store"),
            ("of the log", Unit::Ratio, "ratio_to_log"),
            ("of 11 fdatasyncs", Unit::Ratio, "ratio_to_11_fdatasyncs"),
            ("CPU per step", Unit::Microseconds, "cpu_us_per_step"),
            ("run p99.9", Unit::Milliseconds, "run_p99_9_ms"),
            ("memory, no runs", Unit::Bytes, "memory_no_runs_bytes"),
            ("samples", Unit::Count, "samples"),
        ] {
            assert_eq!(Figure::of(name.to_owned(), unit, vec![1.0]).key(), key);
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
