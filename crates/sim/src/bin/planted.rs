//! `everstep-planted`: plants bugs in the engine and checks that the simulation finds each of them.
//! `cargo xtask sim --planted` runs it, because it needs a build with the feature `planted-bugs`.

use std::process::ExitCode;
use std::time::Instant;

use everstep_sim::planted::{search_all, table};
use everstep_sim::report::ProgressPrinter;
use everstep_sim::{Bug, Limits, Plan, simulate};

/// Seeds within which each bug must be found.
const SEEDS: u64 = 1_000;

/// The parsed command line.
#[derive(Debug)]
struct Options {
    bugs: Vec<Bug>,
    first_seed: u64,
    seeds: u64,
    /// Simulates only this seed and prints its timeline.
    seed: Option<u64>,
}

fn main() -> ExitCode {
    let done = parse(std::env::args().skip(1)).map(|options| match options.seed {
        Some(seed) => print_timeline(seed, &options.bugs),
        None => find_all(&options),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("everstep-planted: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        bugs: Bug::ALL.to_vec(),
        first_seed: 0,
        seeds: SEEDS,
        seed: None,
    };
    while let Some(arg) = args.next() {
        let mut number = || {
            let value = args.next().unwrap_or_default();
            let invalid = |_| format!("{arg} takes a number, not `{value}`");
            value.parse::<u64>().map_err(invalid)
        };
        match arg.as_str() {
            "--seeds" => options.seeds = number()?,
            "--from" => options.first_seed = number()?,
            "--seed" => options.seed = Some(number()?),
            name => options.bugs = vec![bug_named(name)?],
        }
    }
    Ok(options)
}

fn bug_named(name: &str) -> Result<Bug, String> {
    let known = || Bug::ALL.iter().map(|bug| bug.as_str()).collect::<Vec<_>>();
    Bug::parse(name).ok_or_else(|| format!("no bug `{name}`; there are: {}", known().join(", ")))
}

/// Plants one bug after the other. Returns whether the simulation found all of them.
fn find_all(options: &Options) -> bool {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = Instant::now();
    let (mut printer, all) = (ProgressPrinter::default(), options.bugs.len());
    let seeds = (options.first_seed, options.seeds);
    let results = search_all(&options.bugs, seeds, threads, |done| {
        let took = started.elapsed();
        printer.print(took, || {
            format!("{done} of {all} planted bugs done, {} s", took.as_secs())
        });
    });
    let found = results.iter().filter(|(_, result)| result.is_found());
    let found = found.count();
    print!("{}", table(&results, options.first_seed));
    let seconds = started.elapsed().as_secs_f64();
    println!("{found} of {all} planted bugs were found, {seconds:.1} s");
    found == all
}

/// Simulates one seed with the first of the bugs. Returns whether nothing was violated.
fn print_timeline(seed: u64, bugs: &[Bug]) -> bool {
    let plan = Plan::new(seed, Limits::default()).with_bug(bugs.first().copied());
    let report = simulate(&plan, true);
    println!("{}", report.timeline);
    for violation in &report.violations {
        println!("seed {seed}: {violation}");
    }
    report.violations.is_empty()
}
