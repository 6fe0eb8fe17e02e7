//! A named piece of the work of `check` and `test`, and the loop that runs such pieces in order:
//! a numbered line before and after each, a stop at the first failure, a table at the end.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::process::elapsed;

/// One stage. To add one, write its function and put it into the list of `check` or `test`.
#[derive(Debug)]
pub(crate) struct Stage {
    /// What `--stage` takes.
    pub(crate) name: &'static str,
    /// One line for the help text.
    pub(crate) about: &'static str,
    /// Whether it builds with the release profile; `--quick` leaves those out.
    pub(crate) release: bool,
    pub(crate) run: fn() -> Result<Verdict, Failure>,
}

/// How a stage ended when it did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// There was nothing to do, for this reason.
    Skipped(String),
}

/// Runs the stages in order and stops at the first that fails.
pub(crate) fn run_in_order(stages: &[&Stage]) -> Result<(), Failure> {
    let started = Instant::now();
    let count = stages.len();
    let mut done: Vec<(&str, Verdict, Duration)> = Vec::new();
    for (stage, number) in stages.iter().zip(1..) {
        let name = stage.name;
        println!("[{number}/{count}] {name}: {}", stage.about);
        let stage_started = Instant::now();
        let result = (stage.run)();
        let took = stage_started.elapsed();
        match result {
            Ok(verdict) => {
                println!(
                    "[{number}/{count}] {name} {} ({})\n",
                    told(&verdict),
                    elapsed(took)
                );
                done.push((name, verdict, took));
            }
            Err(failure) => {
                let rerun = format!("  re-run just this stage:    cargo xtask test --stage {name}");
                let stop = format!(
                    "stage {number} of {count}, `{name}`, failed after {}\n  {failure}",
                    elapsed(took)
                );
                return Err(Failure::new(stop).with_line(&rerun));
            }
        }
    }
    print!("{}", summary(&done, started.elapsed()));
    Ok(())
}

/// The stages as the help text lists them.
pub(crate) fn describe(stages: &[&Stage]) -> String {
    stages.iter().fold(String::new(), |mut text, stage| {
        let profile = if stage.release {
            " (release profile)"
        } else {
            ""
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<10} {}{profile}", stage.name, stage.about);
        text
    })
}

fn summary(done: &[(&str, Verdict, Duration)], total: Duration) -> String {
    let mut text = String::new();
    let rows = done
        .iter()
        .map(|(name, verdict, took)| (*name, *took, told(verdict)));
    for (name, took, verdict) in rows.chain([("total", total, "passed".to_owned())]) {
        let _ = writeln!(text, "{name:<12} {:>12}   {verdict}", elapsed(took));
    }
    text
}

fn told(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Skipped(reason) => format!("skipped: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: Stage = Stage {
        name: "passes",
        about: "does nothing",
        release: false,
        run: || Ok(Verdict::Passed),
    };
    const FAILS: Stage = Stage {
        name: "fails",
        about: "fails at once",
        release: true,
        run: || Err(Failure::new("`false` ended with 1")),
    };
    const UNREACHABLE: Stage = Stage {
        name: "unreachable",
        about: "must not be reached",
        release: false,
        run: || panic!("a stage ran after one had failed"),
    };

    #[test]
    fn the_first_failure_stops_and_says_how_to_run_it_again() {
        let failure = run_in_order(&[&PASSES, &FAILS, &UNREACHABLE])
            .unwrap_err()
            .to_string();
        assert!(
            failure.starts_with("stage 2 of 3, `fails`, failed after"),
            "{failure}"
        );
        assert!(failure.contains("`false` ended with 1"), "{failure}");
        assert!(
            failure.ends_with("cargo xtask test --stage fails"),
            "{failure}"
        );
    }

    #[test]
    fn the_summary_has_a_row_for_each_stage_and_a_total() {
        let done = [
            ("format", Verdict::Passed, Duration::from_millis(800)),
            (
                "examples",
                Verdict::Skipped("there are none".to_owned()),
                Duration::ZERO,
            ),
        ];
        let expected = "\
format              0.8 s   passed
examples            0.0 s   skipped: there are none
total          1 min 01 s   passed
";
        assert_eq!(summary(&done, Duration::from_secs(61)), expected);
    }

    #[test]
    fn the_help_text_marks_release_stages() {
        assert_eq!(
            describe(&[&PASSES, &FAILS]),
            "  passes     does nothing\n  fails      fails at once (release profile)\n"
        );
    }
}
