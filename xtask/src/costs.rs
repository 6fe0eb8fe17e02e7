//! `cargo xtask costs`: counts the instructions of each piece of the hot path and compares them
//! with the counts recorded in the repository. Unlike times, counts are repeatable, so a change
//! that makes a step more expensive shows in review.
//!
//! Each piece runs few times and many times under callgrind. The difference is its cost without
//! preparation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::builds;
use crate::failure::Failure;
use crate::install;
use crate::process::Invocation;
use crate::scratch::Scratch;
use crate::stage::Verdict;
use crate::workspace;

const FEW: u64 = 20;
const MANY: u64 = 60;
/// Growth above this share fails. Smaller differences come from the system's libraries.
const TOLERANCE: f64 = 0.03;
const ACCEPT: &str = "cargo xtask costs --accept";

/// Instructions by the name of the piece.
type Counts = BTreeMap<String, u64>;

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let accept = match args {
        [] => false,
        [only] if only == "--accept" => true,
        _ => return Err(Failure::usage("`costs` takes nothing but --accept")),
    };
    install::program("valgrind", "valgrind")?;
    let recorded = read_recorded()?;
    let mut counted = count_all()?;
    if !accept && judge(&recorded, &counted).is_err() {
        // Background threads of the store can only add instructions, so the smaller of two counts
        // is closer.
        counted = smaller(counted, &count_all()?);
    }
    print!("{}", table(&recorded, &counted));
    if accept {
        return write_recorded(&counted);
    }
    judge(&recorded, &counted)
}

/// The stage `costs`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    if install::program("valgrind", "valgrind").is_err() {
        let reason = "valgrind is missing and could not be installed";
        return Ok(Verdict::Skipped(reason.to_owned()));
    }
    run(&[])?;
    Ok(Verdict::Passed)
}

fn count_all() -> Result<Counts, Failure> {
    let program = builds::optimised_program("everstep-costs")?;
    let program = program.display().to_string();
    let scratch = Scratch::new("costs")?;
    let mut counts = Counts::new();
    for name in pieces(&program)? {
        let few = count(&program, &name, FEW, &scratch)?;
        let many = count(&program, &name, MANY, &scratch)?;
        let alone = many.saturating_sub(few) / (MANY - FEW);
        counts.insert(name, alone);
    }
    Ok(counts)
}

fn smaller(mut counts: Counts, others: &Counts) -> Counts {
    for (name, count) in &mut counts {
        let other = others.get(name).copied();
        *count = other.map_or(*count, |other| other.min(*count));
    }
    counts
}

/// The names of the pieces, from the program's usage text.
fn pieces(program: &str) -> Result<Vec<String>, Failure> {
    let help = Invocation::new(program, &[]).error_output()?;
    let listed = help.lines().filter_map(|line| line.strip_prefix("  "));
    let names = listed.filter_map(|line| line.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

fn count(program: &str, piece: &str, times: u64, scratch: &Scratch) -> Result<u64, Failure> {
    let out = scratch.path("callgrind.out");
    let into = format!("--callgrind-out-file={out}");
    let times = times.to_string();
    let args = ["--quiet", "--tool=callgrind", &into, program, piece, &times];
    Invocation::new("valgrind", &args).silently().run()?;
    let profile = fs::read_to_string(&out)
        .map_err(|error| Failure::new(format!("callgrind wrote nothing: {error}")))?;
    total(&profile).ok_or_else(|| Failure::new("callgrind reported no total"))
}

fn total(profile: &str) -> Option<u64> {
    let line = profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    line?.trim().parse().ok()
}

fn counts_path() -> PathBuf {
    workspace::root().join("crates/costs/instructions.txt")
}

fn read_recorded() -> Result<Counts, Failure> {
    let text = fs::read_to_string(counts_path()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| parse(line).ok_or_else(|| unreadable(line)))
        .collect()
}

fn unreadable(line: &str) -> Failure {
    Failure::new(format!(
        "`{line}` in {} is not a piece with its count; record the counts:  {ACCEPT}",
        counts_path().display()
    ))
}

fn parse(line: &str) -> Option<(String, u64)> {
    let (name, count) = line.split_once(' ')?;
    Some((name.to_owned(), count.trim().parse().ok()?))
}

fn write_recorded(counted: &Counts) -> Result<(), Failure> {
    let mut text =
        format!("# Instructions of each piece of the hot path. Written by `{ACCEPT}`.\n");
    for (name, count) in counted {
        let _ = writeln!(text, "{name} {count}");
    }
    fs::write(counts_path(), text)
        .map_err(|error| Failure::new(format!("cannot record the counts: {error}")))
}

fn table(recorded: &Counts, counted: &Counts) -> String {
    let mut table = format!("      {:<16}{:>14}{:>14}\n", "piece", "recorded", "now");
    for (name, now) in counted {
        let before = recorded.get(name);
        let shown = before.map_or("-".to_owned(), u64::to_string);
        let change = before.map_or(String::new(), |before| percent(*before, *now));
        let _ = writeln!(table, "      {name:<16}{shown:>14}{now:>14}{change:>9}");
    }
    table
}

fn growth(before: u64, now: u64) -> f64 {
    now as f64 / before.max(1) as f64 - 1.0
}

fn percent(before: u64, now: u64) -> String {
    format!("{:+.1} %", growth(before, now) * 100.0)
}

/// Fails if a piece became more expensive, or if the file lists other pieces.
fn judge(recorded: &Counts, counted: &Counts) -> Result<(), Failure> {
    if !recorded.keys().eq(counted.keys()) {
        let message =
            format!("the file of counts lists other pieces; record the counts:  {ACCEPT}");
        return Err(Failure::new(message));
    }
    let pairs = recorded.iter().zip(counted.values());
    let expensive = pairs.filter(|((_, before), now)| growth(**before, **now) > TOLERANCE);
    let names: Vec<&str> = expensive.map(|((name, _), _)| name.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "more expensive than before: {}\n  if the cost is justified, explain it in the commit and record it:  {ACCEPT}",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        let pairs = pairs.iter().map(|&(name, count)| (name.to_owned(), count));
        pairs.collect()
    }

    #[test]
    fn a_piece_that_became_more_expensive_fails_and_is_named() {
        let recorded = counts(&[("decode", 1_000), ("encode", 1_000)]);
        assert!(judge(&recorded, &counts(&[("decode", 500), ("encode", 1_029)])).is_ok());
        let expensive = judge(&recorded, &counts(&[("decode", 1_000), ("encode", 1_031)]));
        let message = expensive.unwrap_err().to_string();
        assert!(
            message.contains("more expensive than before: encode"),
            "{message}"
        );
    }

    #[test]
    fn a_piece_without_a_recorded_count_fails() {
        let recorded = counts(&[("encode", 1_000)]);
        assert!(judge(&recorded, &counts(&[("decode", 1), ("encode", 1)])).is_err());
        assert!(judge(&recorded, &Counts::new()).is_err());
    }

    #[test]
    fn of_two_counts_the_smaller_one_counts() {
        let first = counts(&[("decode", 5), ("encode", 9)]);
        let second = counts(&[("decode", 7), ("encode", 8)]);
        let expected = counts(&[("decode", 5), ("encode", 8)]);
        assert_eq!(smaller(first, &second), expected);
    }

    #[test]
    fn the_total_of_a_profile_is_read() {
        assert_eq!(total("fn=(1)\n12 4\n\ntotals: 4711\n"), Some(4_711));
        assert_eq!(total("fn=(1)\n"), None);
    }
}
