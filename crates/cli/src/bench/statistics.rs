//! Medians, percentiles and rates of slices.

use std::time::Duration;

/// A rate is taken over slices of about this long.
const SLICE: Duration = Duration::from_millis(250);

/// The value below which that share of the values lies; 0 of none. Sorts the values.
pub(super) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let place = (last as f64 * share).round() as usize;
    values.get(place.min(last)).copied().unwrap_or(0.0)
}

/// The middle value.
pub(super) fn median(values: &[f64]) -> f64 {
    percentile(&mut values.to_vec(), 0.5)
}

/// `a / b`, or 0 where there is nothing to compare with.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Counts, and notes the rate of each slice of time.
#[derive(Default)]
pub(super) struct SlicedRate {
    spent: Duration,
    count: u64,
    rates: Vec<f64>,
}

impl SlicedRate {
    /// So many, which took so long.
    pub(super) fn add(&mut self, count: u64, took: Duration) {
        self.count += count;
        self.spent += took;
        if self.spent >= SLICE {
            self.rates.push(self.rate());
            (self.count, self.spent) = (0, Duration::ZERO);
        }
    }

    fn rate(&self) -> f64 {
        ratio(self.count as f64, self.spent.as_secs_f64())
    }

    /// The rates per second of all slices; a measurement shorter than one slice is one.
    pub(super) fn into_rates(mut self) -> Vec<f64> {
        if self.rates.is_empty() {
            self.rates.push(self.rate());
        }
        self.rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
        assert_eq!(percentile(&mut values, 0.5), 51.0);
        assert_eq!(percentile(&mut values, 0.99), 100.0);
        assert_eq!(percentile(&mut values, 1.0), 101.0);
        assert_eq!(percentile(&mut [], 0.5), 0.0);
    }
}
