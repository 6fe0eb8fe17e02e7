//! `everstep-sim`: simulates many seeds, or one seed with its timeline. `cargo xtask sim` runs it.

use std::collections::BTreeSet;
use std::process::ExitCode;

use everstep_sim::report::{ProgressPrinter, cut, print_end_of_timeline, print_shortfalls};
use everstep_sim::{Campaign, FaultKind, Limits, Plan, Summary, minimise, simulate};

/// The first seeds are simulated twice, to check that a simulation is deterministic.
const TWICE: u64 = 20;

/// The parsed command line.
#[derive(Debug, Default)]
struct Options {
    seeds: Option<u64>,
    seed: Option<u64>,
    from: u64,
    minutes: Option<u64>,
    timeline: bool,
    limits: Limits,
}

fn main() -> ExitCode {
    let done = if std::env::args().any(|arg| arg == "--exhaustive") {
        everstep_sim::exhaustive::run_command(std::env::args().skip(1))
    } else {
        parse(std::env::args().skip(1)).map(|options| match options.seed {
            Some(seed) => one(seed, &options),
            None => is_deterministic(options.from) && many(&options),
        })
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("everstep-sim: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(option) = args.next() {
        if option == "--timeline" {
            options.timeline = true;
            continue;
        }
        let value = args
            .next()
            .ok_or_else(|| format!("{option} takes a value"))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("{option}: `{value}` is not a number"))
        };
        let small = || number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        match option.as_str() {
            "--seeds" => options.seeds = Some(number()?),
            "--seed" => options.seed = Some(number()?),
            "--from" => options.from = number()?,
            "--minutes" => options.minutes = Some(number()?),
            "--nodes" => options.limits.nodes = Some(small()?),
            "--runs" => options.limits.runs = Some(small()?),
            "--requests" => options.limits.requests = Some(number()?),
            "--faults" => options.limits.faults = Some(number()?),
            "--without" => options.limits.without = kinds(&value)?,
            unknown => return Err(format!("unknown option `{unknown}`")),
        }
    }
    Ok(options)
}

fn kinds(names: &str) -> Result<BTreeSet<FaultKind>, String> {
    let unknown = |name: &str| {
        let known: Vec<_> = FaultKind::ALL.iter().map(|kind| kind.as_str()).collect();
        format!("no fault `{name}`; there are: {}", known.join(", "))
    };
    let named = |name: &str| FaultKind::parse(name).ok_or_else(|| unknown(name));
    names.split(',').map(named).collect()
}

/// Checks that the same seed produces the same timeline twice.
fn is_deterministic(from: u64) -> bool {
    for seed in from..from + TWICE {
        let plan = Plan::new(seed, Limits::default());
        let (first, second) = (simulate(&plan, true), simulate(&plan, true));
        if first.timeline != second.timeline {
            let lines = first.timeline.lines().zip(second.timeline.lines());
            let other = lines.enumerate().find(|(_, (one, two))| one != two);
            println!("seed {seed} is not deterministic: {other:#?}");
            return false;
        }
    }
    println!("{TWICE} seeds gave the same timeline twice");
    true
}

fn many(options: &Options) -> bool {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let campaign = Campaign {
        first: options.from,
        seeds: options.seeds.unwrap_or(match options.minutes {
            Some(_) => u64::MAX,
            None => 2_000,
        }),
        time: options.minutes.map(everstep_model::minutes),
        threads,
        limits: options.limits.clone(),
    };
    let mut printer = ProgressPrinter::default();
    let summary = campaign.run(|summary: &Summary| {
        printer.print(summary.took, || summary.progress());
    });
    print!("{}", summary.text());
    for (seed, violations) in &summary.failed {
        let first = violations
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        println!("seed {seed} failed: {}", cut(&first));
    }
    if let Some((seed, violations)) = summary.failed.first_key_value() {
        let invariant = violations
            .first()
            .map_or(0, |violation| violation.invariant);
        report_failure(*seed, options.limits.clone(), invariant);
        return false;
    }
    print_shortfalls(&summary.shortfalls())
}

/// Minimises a failing seed and prints its timeline with the command that reproduces it.
fn report_failure(seed: u64, limits: Limits, invariant: u8) {
    println!("\nreplay it:  cargo xtask sim --seed {seed}");
    let (limits, report) = minimise(seed, limits, invariant);
    println!(
        "smaller:    cargo xtask sim --seed {seed}{} --timeline\n",
        limit_flags(&limits)
    );
    print_end_of_timeline(&report.timeline);
}

fn limit_flags(limits: &Limits) -> String {
    let number = |name: &str, value: Option<u64>| {
        value
            .map(|value| format!(" --{name} {value}"))
            .unwrap_or_default()
    };
    let without: Vec<_> = limits.without.iter().map(|kind| kind.as_str()).collect();
    let without = match without.is_empty() {
        true => String::new(),
        false => format!(" --without {}", without.join(",")),
    };
    let small = |value: Option<usize>| value.map(|value| value as u64);
    [
        number("nodes", small(limits.nodes)),
        number("runs", small(limits.runs)),
        number("requests", limits.requests),
        number("faults", limits.faults),
        without,
    ]
    .concat()
}

fn one(seed: u64, options: &Options) -> bool {
    let plan = Plan::new(seed, options.limits.clone());
    let report = simulate(&plan, true);
    if options.timeline || !report.violations.is_empty() {
        println!("{}", report.timeline);
    }
    for violation in &report.violations {
        println!("seed {seed}: {violation}");
    }
    let faults: u64 = report.faults.values().sum();
    println!(
        "seed {seed}: {:.1} simulated s, {} operations, {} calls, {faults} faults, {} violations",
        report.micros as f64 / 1e6,
        report.operations,
        report.calls,
        report.violations.len()
    );
    report.violations.is_empty()
}
