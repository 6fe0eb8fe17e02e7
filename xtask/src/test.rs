//! `cargo xtask test`: everything a change must pass. It prepares the machine, then runs every
//! stage below; a new kind of test is one more row in `STAGES`. `cargo xtask gate` runs the stages
//! marked `in_gate`, and `cargo xtask test -p CRATE` the tests of one crate.

use crate::api;
use crate::builds::{self, TESTS, test_targets};
use crate::check;
use crate::cluster;
use crate::commands;
use crate::conform;
use crate::costs;
use crate::examples;
use crate::failure::Failure;
use crate::hostile;
use crate::install;
use crate::lanes;
use crate::postgres;
use crate::process::Invocation;
use crate::program;
use crate::seed::seeded;
use crate::sim;
use crate::stage::{Stage, Verdict};

const PREPARE: &[Stage] = &[Stage::main(
    "tools",
    "install what the other stages need",
    install::tools,
)
.in_gate()];

/// The stages that run the product, in the order of their lanes.
const STAGES: &[Stage] = &[
    Stage::main("build", "build all tests and examples", builds::build_tests).in_gate(),
    Stage::main(
        "tests",
        "every test that needs neither optimisation nor PostgreSQL",
        tests,
    )
    .in_gate(),
    Stage::main("doctests", "the code in the documentation", doc_tests).in_gate(),
    Stage::main(
        "optimised",
        "build everything that runs optimised",
        builds::build_optimised,
    ),
    Stage::main(
        "hot-equals-cold",
        "10,000 random workflows, hot, evicted, crashed and replayed",
        hot_equals_cold,
    ),
    Stage::main(
        "sim",
        "2,000 simulated clusters with faults, and a crash at every call",
        sim::stage,
    ),
    Stage::main(
        "planted",
        "bugs planted in the engine, which the simulation must find",
        sim::planted_stage,
    ),
    Stage::main(
        "costs",
        "instructions of the hot path, compared with the recorded counts",
        costs::stage,
    ),
    Stage::main(
        "behaviours-on-postgres",
        "the behaviour suite on PostgreSQL",
        postgres::behaviours,
    )
    .beside("build"),
    Stage::main("examples", "run every example", examples::run_all).beside("build"),
    Stage::main(
        "program",
        "the README's program in a new project, killed and continued",
        program::run,
    )
    .beside("build"),
    Stage::main(
        "postgres",
        "the PostgreSQL store: conformance kit, own tests, and a crash at every call",
        postgres::store,
    )
    .beside("optimised"),
    Stage::main(
        "cluster",
        "two minutes of real processes on one PostgreSQL, under faults",
        cluster::stage,
    )
    .beside("optimised"),
    Stage::main(
        "conformance",
        "the public Durable Streams suite and the stock clients, on each store",
        conform::stage,
    )
    .beside("optimised"),
    Stage::main(
        "api",
        "redocly on the description of the API, and schemathesis against the API",
        api::stage,
    )
    .beside("optimised"),
    Stage::main(
        "kill9",
        "a process that is killed again and again loses nothing",
        kill9,
    )
    .beside("optimised"),
    Stage::main(
        "hostile",
        "a server under attack, which costs little memory and keeps others served",
        hostile::stage,
    )
    .beside("optimised"),
    Stage::main(
        "commands",
        "every shell command of the README and the guides",
        commands::run_all,
    )
    .beside("optimised"),
];

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    match Selection::parse(args)? {
        Selection::Crate(name) => test_crate(&name),
        Selection::Stages(names) => lanes::run(&choose(&names)?),
    }
}

/// `cargo xtask gate`.
pub(crate) fn gate() -> Result<(), Failure> {
    let stages: Vec<_> = stages().into_iter().filter(|stage| stage.in_gate).collect();
    lanes::run(&stages)
}

/// Every stage, in the order they run.
pub(crate) fn stages() -> Vec<&'static Stage> {
    PREPARE.iter().chain(check::STAGES).chain(STAGES).collect()
}

fn tests() -> Result<Verdict, Failure> {
    let targets = [&["--lib", "--bins"], &test_targets(TESTS)[..]].concat();
    let command = if install::nextest_is_present() {
        let nextest = ["nextest", "run", "--workspace", "--locked"];
        let quiet = ["--status-level", "slow", "--final-status-level", "slow"];
        Invocation::cargo(&[&nextest, &targets[..], &quiet].concat())
    } else {
        builds::workspace("test", &targets)
    };
    seeded(command).run()?;
    Ok(Verdict::Passed)
}

/// Separate from the other tests because nextest does not run them.
fn doc_tests() -> Result<Verdict, Failure> {
    builds::workspace("test", &["--doc"]).run()?;
    Ok(Verdict::Passed)
}

fn hot_equals_cold() -> Result<Verdict, Failure> {
    seeded(builds::optimised_test("random")).run()?;
    Ok(Verdict::Passed)
}

fn kill9() -> Result<Verdict, Failure> {
    builds::optimised_test("kill9").run()?;
    Ok(Verdict::Passed)
}

/// `cargo xtask test -p CRATE`: its unit, integration and documentation tests.
fn test_crate(name: &str) -> Result<(), Failure> {
    let folder = name.strip_prefix("everstep-").unwrap_or(name);
    let package = match folder {
        "everstep" | "xtask" => folder.to_owned(),
        _ => format!("everstep-{folder}"),
    };
    seeded(Invocation::cargo(&[
        "test",
        "--locked",
        "--package",
        &package,
    ]))
    .run()
}

/// What the command line selects.
#[derive(Debug, PartialEq, Eq)]
enum Selection {
    Crate(String),
    /// Empty means all.
    Stages(Vec<String>),
}

impl Selection {
    fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut names = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = |of: &str| {
                let missing = || Failure::usage(format!("{arg} takes the name of a {of}"));
                args.next().cloned().ok_or_else(missing)
            };
            match arg.as_str() {
                "-p" | "--package" => return Ok(Self::Crate(value("crate")?)),
                "--stage" => names.push(value("stage")?),
                unknown => {
                    let message = format!("`test` has no option `{unknown}`; see cargo xtask help");
                    return Err(Failure::usage(message));
                }
            }
        }
        Ok(Self::Stages(names))
    }
}

/// The stages with these names, or all.
fn choose(names: &[String]) -> Result<Vec<&'static Stage>, Failure> {
    let all = stages();
    let is_unknown = |name: &&String| all.iter().all(|stage| stage.name != **name);
    if let Some(unknown) = names.iter().find(is_unknown) {
        let known: Vec<&str> = all.iter().map(|stage| stage.name).collect();
        let known = known.join(", ");
        let message = format!("no stage `{unknown}`; there are: {known}");
        return Err(Failure::usage(message));
    }
    let is_chosen =
        |stage: &&Stage| names.is_empty() || names.iter().any(|name| name == stage.name);
    Ok(all.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Lane;

    fn chosen(args: &[&str]) -> Result<Vec<&'static str>, String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let selection = Selection::parse(&args).map_err(|failure| failure.to_string())?;
        let Selection::Stages(names) = selection else {
            return Err("a crate".to_owned());
        };
        let stages = choose(&names).map_err(|failure| failure.to_string())?;
        Ok(stages.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn all_stages_run_unless_some_are_named() {
        assert_eq!(chosen(&[]).unwrap().len(), stages().len());
        assert_eq!(chosen(&["--stage", "tidy"]).unwrap(), ["tidy"]);
        assert_eq!(
            chosen(&["--stage", "tests", "--stage", "lint"]).unwrap(),
            ["lint", "tests"]
        );
        assert_eq!(chosen(&["-p", "engine"]).unwrap_err(), "a crate");
    }

    #[test]
    fn a_mistyped_command_line_is_refused_with_the_names_that_exist() {
        let unknown = chosen(&["--stage", "tets"]).unwrap_err();
        assert!(unknown.contains("no stage `tets`; there are: tools"));
        assert!(chosen(&["--stage"]).unwrap_err().contains("takes the name"));
        let option = chosen(&["--fast"]).unwrap_err();
        assert!(option.contains("no option `--fast`"));
    }

    #[test]
    fn stage_names_are_unique_and_stages_come_after_stages_of_the_main_lane() {
        let mut names: Vec<&str> = stages().iter().map(|stage| stage.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for stage in stages() {
            if let Lane::Beside { after } = stage.lane {
                let is_main = |other: &&Stage| other.name == after && other.lane == Lane::Main;
                assert!(stages().iter().any(is_main), "{}", stage.name);
            }
        }
    }
}
