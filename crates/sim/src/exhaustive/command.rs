//! The command `--exhaustive`.

use super::on_postgres::OnPostgres;
use super::survey::{Account, Survey, simulate_caught};
use crate::plan::{Case, Crash, Moment};
use crate::report::{ProgressPrinter, print_end_of_timeline, print_shortfalls};
use crate::stores::{InMemory, Stores};

/// The parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    twice: bool,
    timeline: bool,
    scenario: Option<String>,
    nodes: Option<usize>,
    crashes: Vec<Crash>,
    /// Whether the stores are PostgreSQL databases.
    on_postgres: bool,
}

/// Runs the command. Returns false if an invariant was violated.
///
/// # Errors
/// If the arguments are invalid.
pub fn run_command(args: impl Iterator<Item = String>) -> Result<bool, String> {
    let options = parse(args)?;
    let database = options.on_postgres.then(OnPostgres::start);
    let stores: &dyn Stores = match &database {
        Some(database) => database,
        None => &InMemory,
    };
    let scenario = match &options.scenario {
        Some(name) => {
            let found = everstep_canonical::named(name);
            Some(found.ok_or_else(|| format!("there is no canonical workflow `{name}`"))?)
        }
        None => None,
    };
    if let Some(scenario) = scenario.filter(|_| options.timeline || !options.crashes.is_empty()) {
        let case = Case {
            scenario,
            nodes: options.nodes.unwrap_or(1),
            crashes: options.crashes,
        };
        return Ok(one(&case, options.timeline, stores));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut survey = Survey::of_all(options.twice, threads);
    survey
        .scenarios
        .retain(|of_all| scenario.is_none_or(|scenario| scenario.name == of_all.name));
    survey
        .nodes
        .retain(|nodes| options.nodes.is_none_or(|options| options == *nodes));
    Ok(all(&survey, stores))
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(option) = args.next() {
        match option.as_str() {
            "--exhaustive" => continue,
            "--twice" => options.twice = true,
            "--timeline" => options.timeline = true,
            "--workflow" | "--nodes" | "--crash" | "--store" => {
                let value = args
                    .next()
                    .ok_or_else(|| format!("{option} takes a value"))?;
                match option.as_str() {
                    "--workflow" => options.scenario = Some(value),
                    "--nodes" if value == "1" => options.nodes = Some(1),
                    "--nodes" if value == "2" => options.nodes = Some(2),
                    "--nodes" => return Err("--nodes is 1 or 2 here".to_owned()),
                    "--store" if value == "postgres" => options.on_postgres = true,
                    "--store" if value == "memory" => options.on_postgres = false,
                    "--store" => return Err("--store is memory or postgres".to_owned()),
                    _ => options.crashes.push(crash(&value)?),
                }
            }
            unknown => return Err(format!("with --exhaustive there is no option `{unknown}`")),
        }
    }
    if !options.crashes.is_empty() && options.scenario.is_none() {
        return Err("--crash needs --workflow".to_owned());
    }
    Ok(options)
}

/// Parses `57:before` or `57:after`.
fn crash(value: &str) -> Result<Crash, String> {
    let wrong = || format!("`{value}` is not a crash; write it as 57:before or 57:after");
    let (call, moment) = value.split_once(':').ok_or_else(wrong)?;
    let call = call.parse().map_err(|_| wrong())?;
    let moment = match moment {
        "before" => Moment::Before,
        "after" => Moment::After,
        _ => return Err(wrong()),
    };
    Ok(Crash { call, moment })
}

fn all(survey: &Survey, stores: &dyn Stores) -> bool {
    let mut printer = ProgressPrinter::default();
    let account = survey.run(stores, |account: &Account| {
        printer.print(account.took, || account.progress());
    });
    println!("{}", account.progress());
    for (case, violation) in &account.failed {
        println!("{violation}\n  replay it: {case} --timeline");
    }
    if let Some((case, _)) = account.failed.first() {
        print_end_of_timeline(&simulate_caught(case, true, stores).timeline);
        return false;
    }
    print_shortfalls(&account.shortfalls(survey))
}

fn one(case: &Case, is_traced: bool, stores: &dyn Stores) -> bool {
    let report = simulate_caught(case, true, stores);
    if is_traced || !report.violations.is_empty() {
        println!("{}", report.timeline);
    }
    for violation in &report.violations {
        println!("{violation}");
    }
    println!(
        "{:.1} simulated s, {} calls, {} crashes, driven again {} times, {} violations",
        report.micros as f64 / 1e6,
        report.calls.len(),
        report.crashes,
        report.restarts,
        report.violations.len()
    );
    report.violations.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_command_parses() {
        let case = Case {
            scenario: &everstep_canonical::ALL[0],
            nodes: 2,
            crashes: [(5, Moment::Before), (9, Moment::After)]
                .map(|(call, moment)| Crash { call, moment })
                .to_vec(),
        };
        let words = case.to_string();
        let args = words.split(' ').skip(3).map(str::to_owned);
        let expected = Options {
            scenario: Some(case.scenario.name.to_owned()),
            nodes: Some(2),
            crashes: case.crashes.clone(),
            ..Options::default()
        };
        assert_eq!(parse(args), Ok(expected));
        let nonsense = ["--crash", "5:sometimes"].map(str::to_owned);
        assert!(parse(nonsense.into_iter()).is_err());
    }
}
