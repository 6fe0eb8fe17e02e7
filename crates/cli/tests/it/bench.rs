//! Each benchmark reports its figures. The tests do not check the values.

use serde_json::Value;

use crate::{everstep, stderr, stdout};

/// Figures of all workloads that execute steps.
const STEP_FIGURES: &[&str] = &[
    "steps",
    "runs",
    "ratio to store",
    "CPU per step",
    "busy",
    "run p50",
    "run p99",
    "run p99.9",
    "commits per batch",
    "memory",
    "store alone",
];
/// Additional figures of workloads on a local disk.
const DISK_FIGURES: &[&str] = &["fdatasync", "bare log", "ratio to log"];

/// Figures of all workloads that repeat one operation.
const REPEATED_FIGURES: &[&str] = &["CPU per operation", "samples", "memory", "fdatasync"];

/// Runs a benchmark and returns the results of its only workload.
fn measured(arguments: &[&str]) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let mut all = vec!["bench"];
    all.extend(arguments);
    all.extend(["--seconds", "1", "--json", "--data", data]);
    let output = everstep(&all);
    assert!(output.status.success(), "{}", stderr(&output));
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "temporary data is removed");
    let results: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(results["cores"].as_u64().unwrap() > 0);
    let workloads = results["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 1);
    assert_eq!(workloads[0]["workload"], arguments[0]);
    workloads[0].clone()
}

/// Checks that these are the cases, and that each has all of these figures with positive values.
fn check(measured: &Value, cases: &[&str], figures: &[&str]) {
    let found = measured["cases"].as_array().unwrap();
    let names: Vec<&str> = found
        .iter()
        .map(|it| it["case"].as_str().unwrap())
        .collect();
    assert_eq!(names, cases);
    for case in found {
        assert!(case["disturbed"].is_boolean(), "{case}");
        for name in figures {
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

/// Checks that the figure has a target, met or not.
fn has_target(case: &Value, name: &str) {
    let target = &figure(case, name)["target"];
    assert!(target["value"].as_f64().unwrap() > 0.0, "{target}");
    assert!(target["met"].is_boolean(), "{target}");
}

// B562
#[test]
fn results_without_a_chart_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let results = serde_json::json!({
        "version": "1", "cores": 1, "workers": 1, "seconds": 1, "payload_bytes": 100,
        "workloads": [{"workload": "seq10", "about": "", "cases": []}],
    });
    std::fs::write(path("results.json"), results.to_string()).unwrap();
    let plot = [
        "bench",
        "plot",
        &path("results.json"),
        "--out",
        &path("charts"),
    ];
    let output = everstep(&plot);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("there is no chart for seq10"), "{said}");
    assert!(said.contains("throughput"), "{said}");
}

#[test]
fn throughput_has_all_figures_for_each_number_of_runs_in_flight() {
    let measured = measured(&["throughput", "--in-flight", "2,8"]);
    for figures in [STEP_FIGURES, DISK_FIGURES] {
        check(&measured, &["2 in flight", "8 in flight"], figures);
    }
    let case = &measured["cases"][1];
    for (key, name) in [
        ("steps_per_second", "steps"),
        ("ratio_to_store", "ratio to store"),
        ("ratio_to_log", "ratio to log"),
        ("cpu_us_per_step", "CPU per step"),
    ] {
        assert_eq!(case[key], figure(case, name)["median"], "{key}");
    }
}

#[test]
fn results_of_many_sizes_are_compared() {
    let measured = measured(&["payload", "--in-flight", "8"]);
    let cases = ["100 bytes", "1000 bytes", "10000 bytes"];
    for figures in [STEP_FIGURES, DISK_FIGURES] {
        check(&measured, &cases, figures);
    }
}

#[test]
fn one_run_at_a_time_is_compared_with_eleven_syncs() {
    let measured = measured(&["seq10"]);
    for figures in [STEP_FIGURES, DISK_FIGURES] {
        check(&measured, &["1 in flight"], figures);
    }
    has_target(&measured["cases"][0], "ratio to 11 fdatasyncs");
}

#[test]
fn starting_is_compared_with_one_sync() {
    let measured = measured(&["start"]);
    check(&measured, &["one run at a time"], REPEATED_FIGURES);
    check(&measured, &["one run at a time"], &["first step p99.9"]);
    has_target(&measured["cases"][0], "ratio to 1 fdatasync + 1 ms");
}

#[test]
fn an_event_is_compared_with_three_syncs() {
    let measured = measured(&["event"]);
    check(&measured, &["one run at a time"], REPEATED_FIGURES);
    check(
        &measured,
        &["one run at a time"],
        &["sent to completed p99.9"],
    );
    has_target(&measured["cases"][0], "ratio to 3 fdatasyncs + 0.3 ms");
}

#[test]
fn parallel_steps_and_children_are_measured_as_one_run() {
    let measured = measured(&["fanout", "--width", "20"]);
    let cases = ["20 steps joined", "20 steps in branches", "20 children"];
    check(&measured, &cases, REPEATED_FIGURES);
    check(&measured, &cases, &["run p50", "run p99", "run p99.9"]);
}

#[test]
fn a_cold_run_is_resumed_for_each_length_of_journal() {
    let measured = measured(&["replay", "--steps", "10,1000"]);
    let figures = ["resume p50", "resume p99.9", "resume per step"];
    check(&measured, &["10 steps", "1000 steps"], &figures);
    has_target(&measured["cases"][1], "resume p50");
}

#[test]
fn the_delay_of_timers_is_measured() {
    let measured = measured(&["timers", "--runs", "100"]);
    let figures = ["delay p50", "delay p99", "due", "CPU per run"];
    check(&measured, &["100 runs"], &figures);
    has_target(&measured["cases"][0], "delay p99");
}

#[test]
fn recovery_after_a_kill_is_measured() {
    let measured = measured(&["recovery", "--runs", "50"]);
    let figures = ["recovery", "open", "fdatasync"];
    let cases = ["10 runs in flight", "50 runs in flight"];
    check(&measured, &cases, &figures);
    has_target(&measured["cases"][0], "open");
    has_target(&measured["cases"][1], "recovery");
}

#[test]
fn the_cost_of_sleeping_runs_is_measured_in_an_idle_process() {
    let measured = measured(&["idle", "--runs", "100"]);
    let figures = ["memory", "memory, no runs"];
    check(&measured, &["100 runs"], &figures);
    for name in ["memory per run", "idle"] {
        has_target(&measured["cases"][0], name);
    }
}

#[test]
fn a_store_with_many_runs_is_opened_by_another_process() {
    let measured = measured(&["open", "--runs", "100"]);
    check(&measured, &["100 runs"], &["open", "first run", "memory"]);
}

#[test]
fn appends_and_deliveries_of_streams_are_measured_over_http() {
    let measured = measured(&["stream", "--connections", "2", "--readers", "1,3"]);
    let cases = measured["cases"].as_array().unwrap();
    let names: Vec<&Value> = cases.iter().map(|case| &case["case"]).collect();
    assert_eq!(names, ["2 connections append", "1 readers", "3 readers"]);
    for name in ["appends", "append p99", "ratio to log", "CPU per operation"] {
        assert!(figure(&cases[0], name)["median"].as_f64().unwrap() > 0.0);
    }
    for name in ["delivered p50", "delivered p99.9", "delivered to all p50"] {
        assert!(figure(&cases[2], name)["median"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_worker_executes_the_same_steps_over_http() {
    let measured = measured(&["remote", "--in-flight", "4"]);
    for figures in [STEP_FIGURES, DISK_FIGURES] {
        check(&measured, &["1 in flight", "4 in flight"], figures);
    }
}

#[test]
fn a_database_is_measured_in_schemas_of_its_own() {
    let database = everstep_private_postgres::Server::start(&[]);
    let url = database.url();
    let measured = measured(&["postgres", "--in-flight", "4", "--store", &url]);
    check(&measured, &["1 in flight", "4 in flight"], STEP_FIGURES);
}

#[test]
fn the_workload_postgres_needs_a_database() {
    let output = everstep(&["bench", "postgres"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--store"), "{}", stderr(&output));
}

#[test]
fn the_journal_of_a_long_loop_does_not_grow() {
    let measured = measured(&["loop", "--iterations", "300"]);
    let stops = [30, 150, 300].map(|stop| format!("after {stop} iterations"));
    let figures = ["iterations", "journal", "resume", "memory"];
    check(&measured, &stops.each_ref().map(String::as_str), &figures);
    for case in measured["cases"].as_array().unwrap() {
        let records = figure(case, "journal records")["median"].as_f64().unwrap();
        assert!(records < 100.0, "{case}");
    }
}

#[test]
fn results_are_rendered_as_charts_and_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (results, page) = (path("results.json"), path("performance.md"));
    let mut all = vec!["bench", "start", "throughput", "loop"];
    all.extend(["--in-flight", "2,4", "--iterations", "100"]);
    all.extend(["--seconds", "1", "--out", &results]);
    let output = everstep(&all);
    assert!(output.status.success(), "{}", stderr(&output));
    let written: Value = serde_json::from_slice(&std::fs::read(&results).unwrap()).unwrap();
    let workloads = written["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 3);
    for workload in workloads {
        let title = format!("{}: ", workload["workload"].as_str().unwrap());
        assert!(stdout(&output).contains(&title), "{title} is in the table");
    }

    let output = everstep(&["bench", "plot", &results, "--out", &path("performance")]);
    assert!(output.status.success(), "{}", stderr(&output));
    let charts = stdout(&output);
    assert_eq!(charts.lines().count(), 3);
    for chart in charts.lines() {
        assert!(std::fs::read_to_string(chart).unwrap().starts_with("<svg"));
    }

    let marked = "# Before\n\n<!-- figures: begin -->\nOutdated\n<!-- figures: end -->\n\nAfter\n";
    std::fs::write(&page, marked).unwrap();
    let output = everstep(&["bench", "page", &results, "--into", &page]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("# Before\n") && text.ends_with("\nAfter\n"));
    assert!(!text.contains("Outdated"), "{text}");
    assert!(text.contains("| `start` | one run at a time | ratio to 1 fdatasync + 1 ms |"));
    assert!(text.contains("](performance/throughput.svg)"), "{text}");
}
