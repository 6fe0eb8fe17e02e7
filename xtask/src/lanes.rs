//! Runs stages in two lanes: the main lane one after the other, with visible output, and beside it
//! the stages that mostly wait. A stage of the second lane is a process of its own whose output
//! goes to a file, so that the outputs do not mix. Both lanes end with one table of durations.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::process::elapsed;
use crate::stage::{Lane, Stage, Verdict};
use crate::workspace;

/// A stage that has ended.
#[derive(Debug)]
struct Ended {
    name: &'static str,
    is_beside: bool,
    took: Duration,
    result: Result<Verdict, Failure>,
}

/// Runs the stages. After a failure no further stage starts, and stages that are running finish.
pub(crate) fn run(stages: &[&'static Stage]) -> Result<(), Failure> {
    let started = Instant::now();
    let is_beside = |stage: &&'static Stage| matches!(stage.lane, Lane::Beside { .. });
    let (beside, main): (Vec<&Stage>, Vec<&Stage>) = stages.iter().copied().partition(is_beside);
    // Nothing runs beside a stage that was chosen alone, so its output stays visible.
    let (beside, main) = match main.is_empty() {
        true => (main, beside),
        false => (beside, main),
    };
    let chosen: Vec<&str> = main.iter().map(|stage| stage.name).collect();
    let has_failed = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        let (passed, passed_stages) = mpsc::channel();
        let second = scope.spawn(|| run_beside(&beside, &chosen, passed_stages, &has_failed));
        let mut ended = run_main(&main, passed, &has_failed);
        ended.extend(second.join().unwrap_or_default());
        ended
    });
    print!("{}", table(&ended, started.elapsed()));
    ended
        .into_iter()
        .try_for_each(|stage| stage.result.map(|_| ()))
}

fn run_main(
    stages: &[&'static Stage],
    passed: Sender<&'static str>,
    has_failed: &AtomicBool,
) -> Vec<Ended> {
    let count = stages.len();
    let mut all = Vec::new();
    for (stage, number) in stages.iter().zip(1..) {
        if has_failed.load(Ordering::Relaxed) {
            break;
        }
        println!("[{number}/{count}] {}: {}", stage.name, stage.about);
        let started = Instant::now();
        let result = (stage.run)();
        let ended = end(stage, started, result, false, has_failed);
        if ended.result.is_ok() {
            // The second lane may be finished, or there is none.
            let _ = passed.send(stage.name);
        }
        all.push(ended);
    }
    all
}

/// Runs the stages of the second lane, each when the stage it comes after has passed.
fn run_beside(
    stages: &[&'static Stage],
    chosen: &[&str],
    passed_stages: Receiver<&'static str>,
    has_failed: &AtomicBool,
) -> Vec<Ended> {
    let mut passed: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for stage in stages {
        let Lane::Beside { after } = stage.lane else {
            continue;
        };
        while chosen.contains(&after) && !passed.contains(&after) {
            match passed_stages.recv() {
                Ok(name) => passed.push(name),
                // The main lane has failed before it got there.
                Err(mpsc::RecvError) => return all,
            }
        }
        if has_failed.load(Ordering::Relaxed) {
            return all;
        }
        println!("[beside] {}: {}", stage.name, stage.about);
        let started = Instant::now();
        let result = run_in_own_process(stage);
        all.push(end(stage, started, result, true, has_failed));
    }
    all
}

fn end(
    stage: &Stage,
    started: Instant,
    result: Result<Verdict, Failure>,
    is_beside: bool,
    has_failed: &AtomicBool,
) -> Ended {
    let took = started.elapsed();
    let name = stage.name;
    let result = result.map_err(|failure| {
        has_failed.store(true, Ordering::Relaxed);
        let message = format!("stage `{name}` failed after {}\n  {failure}", elapsed(took));
        let rerun = format!("  re-run just this stage:    cargo xtask test --stage {name}");
        Failure::new(message).with_line(&rerun)
    });
    let shown = outcome(&result);
    let lane = if is_beside { "[beside] " } else { "" };
    println!("{lane}{name} {shown} ({})\n", elapsed(took));
    Ended {
        name,
        is_beside,
        took,
        result,
    }
}

fn run_in_own_process(stage: &Stage) -> Result<Verdict, Failure> {
    let log = log_file(stage.name)?;
    let unusable = |error| Failure::new(format!("cannot run `{}` beside: {error}", stage.name));
    let out = File::create(&log).map_err(unusable)?;
    let errors = out.try_clone().map_err(unusable)?;
    let program = std::env::current_exe().map_err(unusable)?;
    let status = Command::new(program)
        .args(["test", "--stage", stage.name])
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(errors)
        .status()
        .map_err(unusable)?;
    if status.success() {
        return Ok(Verdict::Passed);
    }
    let output = fs::read_to_string(&log).unwrap_or_default();
    let log = log.display();
    Err(Failure::new(format!("{output}\n  its output: {log}")))
}

fn log_file(name: &str) -> Result<PathBuf, Failure> {
    let folder = workspace::target().join("stages");
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::new(format!("cannot create {}: {error}", folder.display())))?;
    Ok(folder.join(format!("{name}.log")))
}

fn outcome(result: &Result<Verdict, Failure>) -> String {
    match result {
        Ok(verdict) => verdict.to_string(),
        Err(_) => "FAILED".to_owned(),
    }
}

fn table(ended: &[Ended], total: Duration) -> String {
    let has_failed = ended.iter().any(|stage| stage.result.is_err());
    let mut text = String::new();
    let mut row = |name: &str, took: Duration, outcome: &str| {
        text.push_str(&format!("{name:<24} {:>12}   {outcome}\n", elapsed(took)));
    };
    for stage in ended {
        let beside = if stage.is_beside { " (beside)" } else { "" };
        let name = format!("{}{beside}", stage.name);
        row(&name, stage.took, &outcome(&stage.result));
    }
    row("total", total, if has_failed { "FAILED" } else { "passed" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: Stage = Stage::main("passes", "", || Ok(Verdict::Passed));
    const FAILS: Stage = Stage::main("fails", "", || Err(Failure::new("`false` ended with 1")));
    const UNREACHABLE: Stage = Stage::main("unreachable", "", || panic!("ran after a failure"));

    #[test]
    fn no_stage_starts_after_a_failure_and_the_message_says_how_to_run_it_again() {
        let failure = run(&[&PASSES, &FAILS, &UNREACHABLE])
            .unwrap_err()
            .to_string();
        assert!(
            failure.starts_with("stage `fails` failed after"),
            "{failure}"
        );
        assert!(failure.contains("`false` ended with 1"), "{failure}");
        assert!(
            failure.ends_with("cargo xtask test --stage fails"),
            "{failure}"
        );
    }

    #[test]
    fn a_stage_beside_does_not_start_if_the_stage_before_it_has_failed() {
        let beside = UNREACHABLE.beside("fails");
        let (passed, passed_stages) = mpsc::channel();
        passed.send("passes").unwrap();
        drop(passed);
        let beside: &'static Stage = Box::leak(Box::new(beside));
        let ended = run_beside(
            &[beside],
            &["passes", "fails"],
            passed_stages,
            &AtomicBool::new(false),
        );
        assert!(ended.is_empty());
    }

    #[test]
    fn the_table_has_a_row_for_each_stage_and_a_total() {
        let ended = |name, is_beside, seconds, result| Ended {
            name,
            is_beside,
            took: Duration::from_secs(seconds),
            result,
        };
        let skipped = Verdict::Skipped("there are none".to_owned());
        let rows = [
            ended("format", false, 1, Ok(Verdict::Passed)),
            ended("examples", false, 0, Ok(skipped)),
            ended("cluster", true, 125, Err(Failure::new("a violation"))),
        ];
        let expected = "\
format                          1.0 s   passed
examples                        0.0 s   skipped: there are none
cluster (beside)           2 min 05 s   FAILED
total                      3 min 01 s   FAILED
";
        assert_eq!(table(&rows, Duration::from_secs(181)), expected);
    }
}
