//! Benchmarks deliver the figures they promise. How large they are is not a test's business.

use crate::{everstep, stderr, stdout};

const PROMISED: &[&str] = &[
    "in_flight",
    "steps_per_second",
    "runs_per_second",
    "commits_per_batch",
    "ratio_to_store",
    "ratio_to_log",
    "cpu_us_per_step",
    "run_p50_ms",
    "run_p99_ms",
    "fdatasync_us",
    "log_records_per_second",
    "store_steps_per_second",
];

fn figures(scenario: &[&str]) -> serde_json::Value {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let mut arguments = vec!["bench"];
    arguments.extend(scenario);
    arguments.extend(["--seconds", "1", "--json", "--data", data]);
    let output = everstep(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "what was written is removed");
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn check(result: &serde_json::Value) {
    for key in PROMISED {
        let value = result[key].as_f64();
        assert!(value.is_some_and(|value| value > 0.0), "{key} of {result}");
    }
}

#[test]
fn throughput_has_all_figures_for_each_number_of_runs_in_flight() {
    let report = figures(&["throughput", "--in-flight", "2,8"]);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for (result, in_flight) in results.iter().zip([2, 8]) {
        assert_eq!(result["in_flight"], in_flight);
        check(result);
    }
}

#[test]
fn one_run_at_a_time_is_compared_with_eleven_syncs() {
    let report = figures(&["seq10"]);
    let result = &report["results"][0];
    assert_eq!(result["in_flight"], 1);
    check(result);
    assert!(result["ratio_to_11_fdatasyncs"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_loop_is_weighed_at_three_stops_and_does_not_grow() {
    let report = figures(&["loop", "--iterations", "300"]);
    assert_eq!(report["iterations"], 300);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for (result, iteration) in results.iter().zip([30, 150, 300]) {
        assert_eq!(result["iteration"], iteration);
        assert!(
            result["journal_records"].as_u64().unwrap() < 100,
            "{result}"
        );
        assert!(result["resume_ms"].as_f64().unwrap() > 0.0, "{result}");
    }
}
