//! `everstep-sim`: simulates many seeds, or one with its timeline. `cargo xtask sim` runs it.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use everstep_sim::planted::{Hunt, hunt_all, table};
use everstep_sim::{Bug, Campaign, FaultKind, Limits, Plan, Summary, minimise, simulate};

/// Seeds that are simulated twice before anything else.
const TWICE: u64 = 20;

/// Seeds within which each planted bug must be found.
const PLANTED_SEEDS: u64 = 1_000;

/// What the command line asks for.
#[derive(Debug, Default)]
struct Asked {
    seeds: Option<u64>,
    seed: Option<u64>,
    from: u64,
    minutes: Option<u64>,
    timeline: bool,
    /// Bugs to plant.
    planted: Vec<Bug>,
    limits: Limits,
}

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "--exhaustive") {
        return exhaustive();
    }
    let asked = match parse(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(message) => {
            eprintln!("everstep-sim: {message}");
            return ExitCode::from(2);
        }
    };
    // A panic in a simulation is a failing seed, and is told as one.
    std::panic::set_hook(Box::new(|_| ()));
    let is_fine = match asked.seed {
        Some(seed) => one(seed, &asked),
        None if !asked.planted.is_empty() => catch(&asked),
        None => is_deterministic(asked.from) && many(&asked),
    };
    if is_fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Crashes at every call, instead of seeds.
fn exhaustive() -> ExitCode {
    std::panic::set_hook(Box::new(|_| ()));
    match everstep_sim::exhaustive::run_command(std::env::args().skip(1)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("everstep-sim: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(args: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut args = args.peekable();
    while let Some(option) = args.next() {
        if option == "--planted" {
            let name = args.next_if(|name| !name.starts_with("--"));
            asked.planted = bugs(name.as_deref())?;
            continue;
        }
        if option == "--timeline" {
            asked.timeline = true;
            continue;
        }
        let value = args
            .next()
            .ok_or_else(|| format!("{option} takes a value"))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("{option}: `{value}` is no number"))
        };
        let small = || number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        match option.as_str() {
            "--seeds" => asked.seeds = Some(number()?),
            "--seed" => asked.seed = Some(number()?),
            "--from" => asked.from = number()?,
            "--minutes" => asked.minutes = Some(number()?),
            "--nodes" => asked.limits.nodes = Some(small()?),
            "--runs" => asked.limits.runs = Some(small()?),
            "--requests" => asked.limits.requests = Some(number()?),
            "--faults" => asked.limits.faults = Some(number()?),
            "--without" => asked.limits.without = kinds(&value)?,
            unknown => return Err(format!("there is no option `{unknown}`")),
        }
    }
    Ok(asked)
}

/// The bug of a name, or all of them.
fn bugs(name: Option<&str>) -> Result<Vec<Bug>, String> {
    let Some(name) = name else {
        return Ok(Bug::ALL.to_vec());
    };
    let known = || Bug::ALL.iter().map(|bug| bug.name()).collect::<Vec<_>>();
    let unknown = || format!("no bug `{name}`; there are: {}", known().join(", "));
    Bug::named(name).map(|bug| vec![bug]).ok_or_else(unknown)
}

fn kinds(names: &str) -> Result<BTreeSet<FaultKind>, String> {
    let unknown = |name: &str| {
        let known: Vec<_> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("no fault `{name}`; there are: {}", known.join(", "))
    };
    let named = |name: &str| FaultKind::named(name).ok_or_else(|| unknown(name));
    names.split(',').map(named).collect()
}

/// The same seed twice gives the same timeline.
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

fn many(asked: &Asked) -> bool {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let campaign = Campaign {
        first: asked.from,
        seeds: asked.seeds.unwrap_or(if asked.minutes.is_some() {
            u64::MAX
        } else {
            2_000
        }),
        time: asked
            .minutes
            .map(|minutes| Duration::from_secs(60 * minutes)),
        threads,
        limits: asked.limits.clone(),
    };
    let mut told = 0;
    let summary = campaign.run(|summary: &Summary| {
        let seconds = summary.took.as_secs();
        if seconds >= told + 5 {
            told = seconds;
            println!("{}", summary.progress());
        }
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
        tell(*seed, asked.limits.clone(), invariant);
        return false;
    }
    let shortfalls = summary.shortfalls();
    for shortfall in &shortfalls {
        println!("{shortfall}");
    }
    shortfalls.is_empty()
}

/// Plants bugs, one at a time: each must be found.
fn catch(asked: &Asked) -> bool {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seeds = (asked.from, asked.seeds.unwrap_or(PLANTED_SEEDS));
    let started = Instant::now();
    let (mut told, all) = (0, asked.planted.len());
    let hunted = hunt_all(&asked.planted, seeds, threads, |done| {
        let seconds = started.elapsed().as_secs();
        if seconds >= told + 5 {
            told = seconds;
            println!("{done} of {all} planted bugs done, {seconds} s");
        }
    });
    let caught = hunted.iter().filter(|(_, hunt)| Hunt::is_caught(hunt));
    let caught = caught.count();
    print!("{}", table(&hunted, asked.from));
    let seconds = started.elapsed().as_secs_f64();
    println!("{caught} of {all} planted bugs were found, {seconds:.1} s");
    caught == all
}

/// Makes a failing seed smaller and shows its timeline, and the command that shows it again.
fn tell(seed: u64, limits: Limits, invariant: u8) {
    println!("\nreplay it:  cargo xtask sim --seed {seed}");
    let (limits, report) = minimise(seed, limits, invariant);
    println!(
        "smaller:    cargo xtask sim --seed {seed}{} --timeline\n",
        options(&limits)
    );
    let lines: Vec<_> = report.timeline.lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(120)) {
        println!("{}", cut(line));
    }
}

fn options(limits: &Limits) -> String {
    let number = |name: &str, value: Option<u64>| {
        value
            .map(|value| format!(" --{name} {value}"))
            .unwrap_or_default()
    };
    let without: Vec<_> = limits.without.iter().map(|kind| kind.name()).collect();
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

fn one(seed: u64, asked: &Asked) -> bool {
    let plan = Plan::new(seed, asked.limits.clone());
    // One bug at a time.
    let bug = asked.planted.first().copied();
    let report = simulate(&plan.with_bug(bug), true);
    if asked.timeline || !report.violations.is_empty() {
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

fn cut(line: &str) -> String {
    line.chars().take(400).collect()
}
