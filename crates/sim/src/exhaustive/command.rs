//! `--exhaustive`: what the command line asks for, and what it is told.

use super::on_postgres::OnPostgres;
use super::survey::{Account, Survey, simulate_caught};
use crate::plan::{Case, Crash, Moment};
use crate::stores::{InMemory, Stores};

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    twice: bool,
    timeline: bool,
    story: Option<String>,
    nodes: Option<usize>,
    crashes: Vec<(u64, bool)>,
    /// Whether worlds have a PostgreSQL database.
    on_postgres: bool,
}

/// Does what the arguments ask for; false if something did not hold.
///
/// # Errors
/// If the arguments make no sense.
pub fn run_command(args: impl Iterator<Item = String>) -> Result<bool, String> {
    let asked = parse(args)?;
    let database = asked.on_postgres.then(OnPostgres::start);
    let stores: &dyn Stores = match &database {
        Some(database) => database,
        None => &InMemory,
    };
    let story = match &asked.story {
        Some(name) => {
            let found = everstep_canonical::named(name);
            Some(found.ok_or_else(|| format!("there is no canonical workflow `{name}`"))?)
        }
        None => None,
    };
    if let Some(story) = story.filter(|_| asked.timeline || !asked.crashes.is_empty()) {
        let crashes = asked.crashes.iter().map(|(call, is_before)| Crash {
            call: *call,
            moment: if *is_before {
                Moment::Before
            } else {
                Moment::After
            },
        });
        let case = Case {
            story,
            nodes: asked.nodes.unwrap_or(1),
            crashes: crashes.collect(),
        };
        return Ok(one(&case, asked.timeline, stores));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut survey = Survey::of_all(asked.twice, threads);
    survey
        .stories
        .retain(|of_all| story.is_none_or(|story| story.name == of_all.name));
    survey
        .nodes
        .retain(|nodes| asked.nodes.is_none_or(|asked| asked == *nodes));
    Ok(all(&survey, stores))
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked::default();
    while let Some(option) = args.next() {
        match option.as_str() {
            "--exhaustive" => continue,
            "--twice" => asked.twice = true,
            "--timeline" => asked.timeline = true,
            "--story" | "--nodes" | "--crash" | "--store" => {
                let value = args
                    .next()
                    .ok_or_else(|| format!("{option} takes a value"))?;
                match option.as_str() {
                    "--story" => asked.story = Some(value),
                    "--nodes" if value == "1" => asked.nodes = Some(1),
                    "--nodes" if value == "2" => asked.nodes = Some(2),
                    "--nodes" => return Err("--nodes is 1 or 2 here".to_owned()),
                    "--store" if value == "postgres" => asked.on_postgres = true,
                    "--store" if value == "memory" => asked.on_postgres = false,
                    "--store" => return Err("--store is memory or postgres".to_owned()),
                    _ => asked.crashes.push(crash(&value)?),
                }
            }
            unknown => return Err(format!("with --exhaustive there is no option `{unknown}`")),
        }
    }
    if !asked.crashes.is_empty() && asked.story.is_none() {
        return Err("--crash needs --story".to_owned());
    }
    Ok(asked)
}

/// `57:before` or `57:after`.
fn crash(value: &str) -> Result<(u64, bool), String> {
    let wrong = || format!("`{value}` is no crash; they look like 57:before and 57:after");
    let (call, moment) = value.split_once(':').ok_or_else(wrong)?;
    let is_before = match moment {
        "before" => true,
        "after" => false,
        _ => return Err(wrong()),
    };
    Ok((call.parse().map_err(|_| wrong())?, is_before))
}

fn all(survey: &Survey, stores: &dyn Stores) -> bool {
    let mut told = 0;
    let account = survey.run(stores, |account: &Account| {
        let seconds = account.took.as_secs();
        if seconds >= told + 5 {
            told = seconds;
            println!("{}", account.progress());
        }
    });
    println!("{}", account.progress());
    for (case, violation) in &account.failed {
        println!("{violation}\n  replay it: {case} --timeline");
    }
    if let Some((case, _)) = account.failed.first() {
        let report = simulate_caught(case, true, stores);
        let lines: Vec<_> = report.timeline.lines().collect();
        for line in lines.iter().skip(lines.len().saturating_sub(120)) {
            println!("{}", line.chars().take(400).collect::<String>());
        }
        return false;
    }
    let shortfalls = account.shortfalls(survey);
    for shortfall in &shortfalls {
        println!("{shortfall}");
    }
    shortfalls.is_empty()
}

fn one(case: &Case, is_told: bool, stores: &dyn Stores) -> bool {
    let report = simulate_caught(case, true, stores);
    if is_told || !report.violations.is_empty() {
        println!("{}", report.timeline);
    }
    for violation in &report.violations {
        println!("{violation}");
    }
    println!(
        "{:.1} simulated s, {} calls, {} crashes, told again {} times, {} violations",
        report.micros as f64 / 1e6,
        report.calls.len(),
        report.crashes,
        report.retold,
        report.violations.len()
    );
    report.violations.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_is_printed_is_understood() {
        let case = Case {
            story: &everstep_canonical::ALL[0],
            nodes: 2,
            crashes: [(5, Moment::Before), (9, Moment::After)]
                .map(|(call, moment)| Crash { call, moment })
                .to_vec(),
        };
        let words = case.to_string();
        let args = words.split(' ').skip(3).map(str::to_owned);
        let expected = Asked {
            story: Some(case.story.name.to_owned()),
            nodes: Some(2),
            crashes: vec![(5, true), (9, false)],
            ..Asked::default()
        };
        assert_eq!(parse(args), Ok(expected));
        let nonsense = ["--crash", "5:sometimes"].map(str::to_owned);
        assert!(parse(nonsense.into_iter()).is_err());
    }
}
