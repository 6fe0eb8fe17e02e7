//! Figures of several rounds, and their verdicts.

use super::*;

#[test]
fn a_figure_is_the_median_of_its_rounds_with_their_spread() {
    let mut rounds = Rounds::default();
    for (steps, mut latencies) in [(3.0, [1.0, 2.0, 9.0]), (5.0, [2.0, 3.0, 9.0])] {
        rounds.add("steps", Unit::PerSecond, steps);
        rounds.add_latencies("run", &mut latencies);
    }
    let case = rounds.into_case("alone").at_most("run p99", 9.0, "nine");
    let names: Vec<&str> = case.figures.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["steps", "run p50", "run p99", "run p99.9"]);
    let steps = case.figures.first().unwrap();
    assert_eq!((steps.low, steps.high), (3.0, 5.0));
    let targets = case.figures.iter().filter(|it| it.target.is_some());
    assert_eq!(targets.count(), 1);
    assert_eq!(case.value("run p99"), 9.0);
    assert_eq!(case.value("nothing"), 0.0);
}

fn case_with_syncs(rounds_us: [[f64; 3]; 2]) -> Case {
    let mut rounds = Rounds::default();
    for fdatasync_us in rounds_us {
        rounds.add_sync(&DiskSamples {
            fdatasync_us: fdatasync_us.to_vec(),
            log_per_second: Vec::new(),
        });
    }
    rounds
        .into_case("alone")
        .at_most(FDATASYNC, 1e6, "anything")
}

#[test]
fn a_disturbed_machine_gives_no_verdict() {
    let quiet = [[190.0, 200.0, 900.0], [195.0, 210.0, 400.0]];
    let disturbed = [[190.0, 4_000.0, 4_000.0], [195.0, 210.0, 400.0]];
    for (syncs, verdict) in [(quiet, "met"), (disturbed, "DISTURBED")] {
        let case = case_with_syncs(syncs);
        let figure = case.figure(FDATASYNC).unwrap();
        assert_eq!(case.verdict(figure.target.as_ref().unwrap()), verdict);
    }
}
