//! Percentiles of measured values.

use super::*;

#[test]
fn percentiles_are_measured_values() {
    let mut values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
    assert_eq!(percentile(&mut values, 0.5), 51.0);
    assert_eq!(percentile(&mut values, 0.99), 100.0);
    assert_eq!(percentile(&mut values, 1.0), 101.0);
    assert_eq!(percentile(&mut [], 0.5), 0.0);
}
