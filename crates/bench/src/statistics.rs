//! Medians, percentiles and rates.

use std::time::Duration;

/// The minimum length of the time slices over which rates are computed.
const SLICE: Duration = Duration::from_millis(250);

/// Returns the value at this percentile (0 if there are no values). Sorts the values.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let place = (last as f64 * share).round() as usize;
    values.get(place.min(last)).copied().unwrap_or(0.0)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(&mut values.to_vec(), 0.5)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    ratio(values.iter().sum(), values.len() as f64)
}

/// Returns `a / b`, or 0 if `b` is 0.
pub(crate) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Computes one rate per time slice.
#[derive(Default)]
pub(crate) struct SlicedRate {
    spent: Duration,
    count: u64,
    rates: Vec<f64>,
}

impl SlicedRate {
    /// Adds `count` operations that took this long together.
    pub(crate) fn add(&mut self, count: u64, took: Duration) {
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

    /// Returns the rates per second. A measurement shorter than one slice yields one rate.
    pub(crate) fn into_rates(mut self) -> Vec<f64> {
        if self.rates.is_empty() {
            self.rates.push(self.rate());
        }
        self.rates
    }
}

#[cfg(test)]
mod tests;
