//! The report of a failed simulation, and how to reproduce it.

use std::process::Command;

use everstep::schemars::{self, JsonSchema};
use everstep::testing::{Simulation, simulate, simulate_in};
use everstep::{Ctx, Error, Event, Result, Workflow, hours, interface, minutes};
use serde::{Deserialize, Serialize};

use super::shop::{Address, Bank, failure};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Late(u32);
impl Event for Late {
    const NAME: &'static str = "late";
}

/// Misses events that are late.
struct Hasty;
interface!(HastyInterface { events: Late; });

impl Workflow for Hasty {
    const NAME: &'static str = "hasty";
    type Input = ();
    type Output = u32;
    type Interface = HastyInterface;

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<u32> {
        ctx.step("begin", || async { Ok::<_, Error>(()) }).await?;
        let late = ctx.event::<Late>().timeout(hours(1)).await?;
        ctx.step("end", || async { Ok::<_, Error>(()) }).await?;
        Ok(late.map_or(0, |Late(n)| n))
    }
}

fn hasty() -> Simulation<Hasty> {
    hasty_with(500)
}

fn hasty_with(seeds: u64) -> Simulation<Hasty> {
    simulate(Hasty, 0..seeds).event(minutes(59), &Late(5))
}

fn check_hasty(simulation: Simulation<Hasty>) -> String {
    failure(|| simulation.check(|run| assert_eq!(run.output().unwrap(), 5, "it was missed")))
}

/// Returns the text after this word, up to the next space or line break.
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    let (_, rest) = text.split_once(word).unwrap();
    rest.split([' ', '\n']).next().unwrap()
}

#[test]
fn a_report_contains_the_seed_the_assertion_the_faults_and_the_timeline() {
    let report = check_hasty(hasty());
    let seed: u64 = after(&report, "fails with seed ").parse().unwrap();
    let parts = [
        "it was missed\n  left: 0\n right: 5\n  at ".to_owned(),
        "reports.rs:".to_owned(),
        format!("EVERSTEP_SEED={seed} cargo test simulating::reports::a_report_contains"),
        "Faults:\n    ".to_owned(),
        "00:00:00.000  commit 1  simulated: created (hasty)".to_owned(),
        "simulated: step_started begin:0, step_completed begin:0".to_owned(),
        "timer_fired late:0".to_owned(),
        "completed".to_owned(),
    ];
    for part in parts {
        assert!(report.contains(&part), "no {part:?} in:\n{report}");
    }
}

#[test]
fn the_reported_seed_fails_again_on_its_own() {
    let report = check_hasty(hasty());
    let seed = after(&report, "EVERSTEP_SEED=").to_owned();
    assert_eq!(check_hasty(hasty().only(&seed)), report);
    let other = if seed == "0" { "1" } else { "0" };
    let summary = hasty().only(other).check(|_| {});
    assert_eq!(summary.cases, 2);
}

#[test]
fn faults_that_are_not_needed_are_left_out() {
    let report = check_hasty(hasty());
    let (_, faults) = report.split_once("Faults:\n").unwrap();
    let (faults, timeline) = faults.split_once("\n\n").unwrap();
    let faults: Vec<&str> = faults.lines().collect();
    assert_eq!(faults.len(), 2, "{report}");
    assert!(!faults[0].contains("crash"), "{report}");
    assert!(faults[1].contains("which it fails without"), "{report}");
    // The report shows the case without them.
    assert!(!timeline.contains("the process crashes"), "{report}");
}

/// Violates the assertion of its test only if two crashes repeat effects.
struct Twice {
    bank: Bank,
}
impl Workflow for Twice {
    const NAME: &'static str = "twice";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, ctx: Ctx<Self>, _: ()) -> Result<()> {
        for name in ["a", "b", "c"] {
            ctx.step(name, || async {
                self.bank.act("act");
                Ok::<_, Error>(())
            })
            .await?;
        }
        Ok(())
    }
}

#[test]
fn faults_that_are_needed_together_stay_together() {
    let make = |bank: &Bank| Twice { bank: bank.clone() };
    let report = failure(|| {
        simulate_in(Bank::default, make, 0..2_000)
            .check(|run| assert!(run.world().times("act") <= 4, "too often"))
    });
    let (_, faults) = report.split_once("Faults:\n").unwrap();
    let (faults, timeline) = faults.split_once("\n\n").unwrap();
    assert_eq!(faults.matches("crash before commit").count(), 2, "{report}");
    assert_eq!(timeline.matches("is lost: ").count(), 2, "{report}");
    assert!(!faults.contains("clock"), "{report}");
    assert!(!faults.contains("back after"), "{report}");
}

/// Does nothing durable.
struct Nothing;
impl Workflow for Nothing {
    const NAME: &'static str = "nothing";
    type Input = ();
    type Output = ();
    type Interface = ();

    async fn run(&self, _: Ctx<Self>, _: ()) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_simulation_in_which_nothing_can_go_wrong_fails() {
    let report = failure(|| simulate(Nothing, 0..10).check(|_| {}));
    assert!(report.contains("nothing was simulated"), "{report}");
}

#[test]
fn an_event_that_never_arrives_in_time_fails_the_simulation() {
    let report = failure(|| hasty_with(9).event(hours(5), &Late(6)).check(|_| {}));
    assert!(
        report.contains("event `late` was never accepted"),
        "{report}"
    );
}

#[test]
fn an_answer_to_an_rpc_that_is_never_made_fails_the_simulation() {
    let home = "home".to_owned();
    let report = failure(|| hasty_with(9).answer::<Address>(&home).check(|_| {}));
    assert!(report.contains("`address` was never made"), "{report}");
}

#[test]
fn a_workflow_that_fails_without_faults_is_reported_as_such() {
    let report = failure(|| hasty().check(|run| assert_eq!(run.output().unwrap(), 6)));
    assert!(
        report.contains("`hasty` fails without any fault"),
        "{report}"
    );
    assert!(report.contains("EVERSTEP_SEED=clean"), "{report}");
    assert!(!report.contains("Faults:"), "{report}");
}

#[test]
fn a_case_that_no_simulation_prints_is_refused() {
    let report = failure(|| hasty().only("yesterday").check(|_| {}));
    assert!(report.contains("EVERSTEP_SEED is `yesterday`"), "{report}");
}

#[test]
fn a_summary_reads_as_one_line() {
    let summary = simulate(Hasty, 0..5)
        .event(minutes(1), &Late(5))
        .check(|_| {});
    let report = summary.to_string();
    assert!(
        report.starts_with(&format!("{} cases, ", summary.cases)),
        "{report}"
    );
    assert!(!report.contains('\n'));
    println!("{report}");
}

#[test]
fn the_variable_in_the_environment_names_the_only_case() {
    let summary = "simulating::reports::a_summary_reads_as_one_line";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", summary, "--nocapture"])
        .env("EVERSTEP_SEED", "3")
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{report}");
    // The one without faults, and this one.
    assert!(report.contains("2 cases, "), "{report}");
}
