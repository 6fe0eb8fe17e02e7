//! A table with all parts of a line.

use super::*;
use crate::case::Rounds;
use crate::figure::Unit;
use crate::results::Measured;

// B562
#[test]
fn each_figure_has_a_line_with_its_spread_and_on_request_its_target() {
    let mut rounds = Rounds::default();
    rounds.add("fdatasync", Unit::Microseconds, 200.0);
    rounds.add("run", Unit::Milliseconds, 2.0);
    rounds.add("run", Unit::Milliseconds, 4.0);
    let case = rounds.into_case("alone").at_most("run", 3.0, "three");
    let results = Results {
        version: "1".to_owned(),
        cores: 2,
        workers: 2,
        seconds: 1,
        rounds: 2,
        payload_bytes: 100,
        workloads: vec![Measured {
            workload: "start".to_owned(),
            about: "starts".to_owned(),
            cases: vec![case],
        }],
    };
    let plain = "\
start: starts

  alone
    fdatasync  200 µs
    run          4 ms   2 ms … 4 ms";
    assert_eq!(table(&results, false), plain);
    let with_targets = format!("{plain}   target ≤ 3 ms (three): MISSED");
    assert_eq!(table(&results, true), with_targets);
}
