//! Benchmarks deliver the figures they promise. How large they are is not a test's business.

use serde_json::Value;

use crate::{everstep, stderr, stdout};

/// What every workload of steps promises for each case.
const OF_STEPS: &[&str] = &[
    "steps",
    "runs",
    "of the store alone",
    "of the bare log",
    "CPU per step",
    "busy",
    "run p50",
    "run p99",
    "run p99.9",
    "commits per batch",
    "memory",
    "fdatasync",
    "bare log",
    "store alone",
];

/// What every workload promises that does one thing again and again.
const ONE_BY_ONE: &[&str] = &["CPU each", "samples", "memory", "fdatasync"];

/// What a benchmark says, as JSON: its only workload.
fn measured(arguments: &[&str]) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let mut all = vec!["bench"];
    all.extend(arguments);
    all.extend(["--seconds", "1", "--json", "--data", data]);
    let output = everstep(&all);
    assert!(output.status.success(), "{}", stderr(&output));
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "what was written is removed");
    let results: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(results["cores"].as_u64().unwrap() > 0);
    let workloads = results["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 1);
    assert_eq!(workloads[0]["workload"], arguments[0]);
    workloads[0].clone()
}

/// The cases are these, and each has all of these figures, none of them zero.
fn check(measured: &Value, cases: &[&str], promised: &[&str]) {
    let found = measured["cases"].as_array().unwrap();
    let names: Vec<&str> = found
        .iter()
        .map(|it| it["case"].as_str().unwrap())
        .collect();
    assert_eq!(names, cases);
    for case in found {
        for name in promised {
            let figure = figure(case, name);
            for part in ["low", "median", "high"] {
                assert!(figure[part].as_f64().unwrap() > 0.0, "{figure}");
            }
            assert!(figure["unit"].is_string());
        }
    }
}

fn figure<'a>(case: &'a Value, name: &str) -> &'a Value {
    let mut figures = case["figures"].as_array().unwrap().iter();
    let found = figures.find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {case}"))
}

/// The figure has a target, met or not.
fn has_target(case: &Value, name: &str) {
    let target = &figure(case, name)["target"];
    assert!(target["value"].as_f64().unwrap() > 0.0, "{target}");
    assert!(target["met"].is_boolean(), "{target}");
}

#[test]
fn throughput_has_all_figures_for_each_number_of_runs_in_flight() {
    let measured = measured(&["throughput", "--in-flight", "2,8"]);
    check(&measured, &["2 in flight", "8 in flight"], OF_STEPS);
}

#[test]
fn one_run_at_a_time_is_compared_with_eleven_syncs() {
    let measured = measured(&["seq10"]);
    check(&measured, &["1 in flight"], OF_STEPS);
    has_target(&measured["cases"][0], "of 11 fdatasyncs");
}

#[test]
fn starting_is_compared_with_one_sync() {
    let measured = measured(&["start"]);
    check(&measured, &["one run at a time"], ONE_BY_ONE);
    check(&measured, &["one run at a time"], &["first step p99.9"]);
    has_target(&measured["cases"][0], "first step p50");
}

#[test]
fn an_event_is_compared_with_three_syncs() {
    let measured = measured(&["event"]);
    check(&measured, &["one run at a time"], ONE_BY_ONE);
    check(
        &measured,
        &["one run at a time"],
        &["sent to completed p99.9"],
    );
    has_target(&measured["cases"][0], "sent to completed p50");
}

#[test]
fn a_loop_is_weighed_at_three_stops_and_does_not_grow() {
    let measured = measured(&["loop", "--iterations", "300"]);
    let stops = [30, 150, 300].map(|stop| format!("after {stop} iterations"));
    let promised = ["iterations", "journal", "resume", "memory"];
    check(&measured, &stops.each_ref().map(String::as_str), &promised);
    for case in measured["cases"].as_array().unwrap() {
        let records = figure(case, "journal records")["median"].as_f64().unwrap();
        assert!(records < 100.0, "{case}");
    }
}
