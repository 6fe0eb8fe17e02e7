//! Checks the traces of all executions of a random program: later executions see the same results
//! as earlier ones.

use std::collections::HashSet;

use everstep::journal::{Body, Entry};

use crate::program::{EARLY, Witness};

/// Returns the trace of the last execution of the last pass. Earlier passes may have been executed
/// again after it, to find their undos.
pub(crate) fn last_trace(witness: &Witness) -> Vec<String> {
    let traces = witness.traces();
    let last = traces.into_iter().max_by_key(|(pass, _)| *pass);
    last.expect("it ran").1
}

/// Compares each execution with the later ones. `history` contains every record that was ever
/// written.
pub(crate) fn check_traces(history: &[Entry], witness: &Witness) {
    let durable = results(history);
    let (traces, last) = (witness.traces(), last_trace(witness));
    for (index, (pass, trace)) in traces.iter().enumerate() {
        let lasting = lasting(trace, &durable);
        let later = traces.iter().skip(index + 1);
        for (_, later) in later.filter(|(other, _)| other == pass) {
            let (lasting, later) = seen_by_both(lasting, later);
            let shared = lasting.len().min(later.len());
            assert_eq!(
                lasting[..shared],
                later[..shared],
                "an execution saw other results than a later one"
            );
        }
    }
    let last_pass = traces.iter().map(|(pass, _)| *pass).max();
    for (_, trace) in traces.iter().filter(|(pass, _)| Some(*pass) == last_pass) {
        let (lasting, last) = seen_by_both(lasting(trace, &durable), &last);
        assert!(
            last.starts_with(&lasting),
            "the last execution made less progress than an earlier one: {lasting:?}"
        );
    }
}

/// The results of steps that became durable.
fn results(history: &[Entry]) -> HashSet<String> {
    let results = history.iter().filter_map(|entry| match &entry.record.body {
        Body::StepCompleted(done) => done.result.decode().ok(),
        _ => None,
    });
    results.collect()
}

/// Returns the trace up to the first early result that was lost in a crash. What follows it may
/// differ in later executions.
fn lasting<'a>(trace: &'a [String], durable: &HashSet<String>) -> &'a [String] {
    let is_lost = |line: &String| {
        let Some((_, result)) = line.split_once(" = ") else {
            return false;
        };
        // A later pass may show such a result as the output of a `try` step: `Ok("…")`,
        // `Some("…")`.
        let result = result.split('"').nth(1).unwrap_or(result);
        result.ends_with(EARLY) && !durable.contains(result)
    };
    let lost = trace.iter().position(is_lost);
    &trace[..lost.unwrap_or(trace.len())]
}

/// Returns two traces without the iterations that only one of them contains. The other execution
/// began after they were dropped.
pub(crate) fn seen_by_both(one: &[String], other: &[String]) -> (Vec<String>, Vec<String>) {
    let common = |own: &[String], other: &[String]| {
        let known: HashSet<&str> = other.iter().flat_map(|line| iterations(line)).collect();
        let is_common = |line: &&String| iterations(line).all(|at| known.contains(at));
        own.iter().filter(is_common).cloned().collect::<Vec<_>>()
    };
    (common(one, other), common(other, one))
}

/// Returns the iterations that contain a line of a trace, outermost first.
fn iterations(line: &str) -> impl Iterator<Item = &str> {
    // The rest of the line is the result, which may contain locations too.
    let location = line.split(' ').next().unwrap_or(line);
    location.match_indices('~').map(move |(at, _)| {
        let digits = location[at + 1..].chars().take_while(char::is_ascii_digit);
        &location[..=at + digits.count()]
    })
}
