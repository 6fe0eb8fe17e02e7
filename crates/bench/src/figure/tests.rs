//! Numbers, JSON keys and targets.

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
