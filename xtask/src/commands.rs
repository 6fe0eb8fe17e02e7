//! The `commands` stage: every shell command of the README and the guides is run and must succeed.
//! The table below lists the commands of cargo; all others run exactly as written (`terminal.rs`).

use std::time::Duration;

use crate::builds;
use crate::documents::{self, Document};
use crate::failure::Failure;
use crate::process::Invocation;
use crate::scratch::Scratch;
use crate::stage::Verdict;
use crate::terminal;

/// The time limit of a documented command, without compiling.
const LIMIT: Duration = Duration::from_secs(120);

/// How a documented command is tested.
enum How {
    /// Run at the root with these additional arguments. `{scratch}` is a folder that is removed
    /// afterwards.
    With(&'static [&'static str]),
    /// Tested elsewhere, as the text explains.
    Elsewhere(&'static str),
}

/// Why the benchmarks of the page on performance are not repeated here.
const BENCHMARKED: &str = "the tests of `crates/cli` do it, with much less to measure";

const COMMANDS: &[(&str, How)] = &[
    (
        "cargo xtask test",
        How::Elsewhere("it is what runs this stage"),
    ),
    (
        "cargo new orders",
        How::Elsewhere("the stage `program` begins with it"),
    ),
    ("cargo run --release -- explain diverged", How::With(&[])),
    (
        "cargo run --release -- bench throughput",
        How::With(&["--seconds", "1", "--in-flight", "64"]),
    ),
    (
        "cargo run --release -- bench seq10",
        How::With(&["--seconds", "1"]),
    ),
    (
        "cargo xtask bench --out results.json",
        How::Elsewhere(BENCHMARKED),
    ),
    (
        "cargo run --release -- bench plot results.json --out docs/performance",
        How::Elsewhere(BENCHMARKED),
    ),
    (
        "cargo run --release -- bench page results.json --into docs/performance.md",
        How::Elsewhere(BENCHMARKED),
    ),
];

/// Documents whose commands need a special server, and the tests that run them.
const DONE_ELSEWHERE: [(&str, &str); 1] = [(
    "docs/guides/scaling.md",
    "the tests of `crates/cli` type this on a database of their own",
)];

pub(crate) fn run_all() -> Result<Verdict, Failure> {
    let scratch = Scratch::new("commands")?;
    // Build first: the limit is for running.
    builds::optimised_program("everstep")?;
    for (command, how) in documented()? {
        match how {
            How::Elsewhere(reason) => println!("      `{command}`: {reason}"),
            How::With(more) => invocation(&command, more, &scratch).within(LIMIT).run()?,
        }
    }
    for document in documents::all()? {
        type_out(&document)?;
    }
    Ok(Verdict::Passed)
}

/// Types the commands of a document.
fn type_out(document: &Document) -> Result<(), Failure> {
    let mut commands = document.commands();
    commands.retain(|command| !is_known_here(command));
    if commands.is_empty() {
        return Ok(());
    }
    println!("      {}", document.path);
    if let Some((_, reason)) = DONE_ELSEWHERE
        .iter()
        .find(|(path, _)| *path == document.path)
    {
        println!("      {reason}");
        return Ok(());
    }
    terminal::type_out(&document.path.replace('/', "-"), &commands, LIMIT)
}

fn is_known_here(command: &str) -> bool {
    command.starts_with("cargo ") && !terminal::is_serving(command)
}

/// Every cargo command of the documents once, in their order.
fn documented() -> Result<Vec<(String, &'static How)>, Failure> {
    let mut found: Vec<(String, &How)> = Vec::new();
    for document in documents::all()? {
        for command in document.commands() {
            if !is_known_here(&command) {
                continue;
            }
            if found.iter().any(|(known, _)| *known == command) {
                continue;
            }
            let Some((_, how)) = COMMANDS.iter().find(|(known, _)| *known == command) else {
                return Err(Failure::new(format!(
                    "{} says `{command}`: add it to COMMANDS in xtask/src/commands.rs",
                    document.path
                )));
            };
            found.push((command, how));
        }
    }
    Ok(found)
}

fn invocation(command: &str, more: &[&str], scratch: &Scratch) -> Invocation {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or(command);
    let more = more
        .iter()
        .map(|word| word.replace("{scratch}", &scratch.path("")));
    let args: Vec<String> = words.map(str::to_owned).chain(more).collect();
    Invocation::new(program, &[]).args(&args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_command_is_known_and_every_known_one_documented() {
        let documented = documented().unwrap();
        for (command, _) in COMMANDS {
            let is_documented = documented.iter().any(|(known, _)| known == command);
            assert!(is_documented, "no document says `{command}` any more");
        }
    }
}
