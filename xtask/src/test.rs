//! `cargo xtask test`: the one command that says whether a change may land. It prepares the machine,
//! then runs every stage below in order. A new kind of test is one more line in `STAGES`.

use crate::api;
use crate::check;
use crate::cluster;
use crate::commands;
use crate::conform;
use crate::costs;
use crate::examples;
use crate::failure::Failure;
use crate::install;
use crate::postgres;
use crate::process::Invocation;
use crate::program;
use crate::seed::seeded;
use crate::sim;
use crate::stage::{self, Stage, Verdict};

const PREPARE: &[Stage] = &[Stage {
    name: "tools",
    about: "what the other stages need on this machine",
    release: false,
    run: install::tools,
}];

/// What runs the product. A stage that builds with the release profile says `release: true`.
const STAGES: &[Stage] = &[
    Stage {
        name: "tests",
        about: "every test of the workspace that needs no server",
        release: false,
        run: tests,
    },
    Stage {
        name: "doctests",
        about: "the code in the docs",
        release: false,
        run: doc_tests,
    },
    Stage {
        name: "examples",
        about: "every example",
        release: false,
        run: examples::run_all,
    },
    Stage {
        name: "program",
        about: "the program of the README, made, killed and continued as it says",
        release: false,
        run: program::run,
    },
    Stage {
        name: "commands",
        about: "every shell command of the README and the guides",
        release: true,
        run: commands::run_all,
    },
    Stage {
        name: "conformance",
        about: "the public Durable Streams suite and the stock clients, on each store",
        release: true,
        run: conform::stage,
    },
    Stage {
        name: "api",
        about: "schemathesis, against the API as it describes itself",
        release: true,
        run: api::stage,
    },
    Stage {
        name: "hot-equals-cold",
        about: "10,000 random workflows, hot, evicted, crashed and replayed",
        release: true,
        run: hot_equals_cold,
    },
    Stage {
        name: "costs",
        about: "instructions of the hot path, against those that are kept",
        release: true,
        run: costs::stage,
    },
    Stage {
        name: "sim",
        about: "2,000 simulated clusters with faults, bugs planted for them to find, and a crash at every call",
        release: true,
        run: sim::stage,
    },
    Stage {
        name: "postgres",
        about: "the kit, the store's own tests, every behaviour and a crash at every call on a PostgreSQL server",
        release: true,
        run: postgres::stage,
    },
    Stage {
        name: "cluster",
        about: "two minutes of real processes on one PostgreSQL, with everything going wrong that can",
        release: true,
        run: cluster::stage,
    },
    Stage {
        name: "kill9",
        about: "a process killed again and again loses nothing",
        release: true,
        run: kill9,
    },
];

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let all = stages();
    let chosen = Selection::parse(args)?.choose(&all)?;
    stage::run_in_order(&chosen)
}

/// Every stage, in the order they run.
pub(crate) fn stages() -> Vec<&'static Stage> {
    PREPARE.iter().chain(check::STAGES).chain(STAGES).collect()
}

/// Tests that share one server in one process; see the stage `postgres`.
const OWN_STAGE: &str = "everstep-store-postgres";

fn tests() -> Result<Verdict, Failure> {
    if install::nextest_is_present() {
        let all = [
            "nextest",
            "run",
            "--workspace",
            "--all-features",
            "--locked",
            "--exclude",
            OWN_STAGE,
        ];
        seeded(Invocation::cargo(&all)).run()?;
    } else {
        let targets = [
            "test",
            "--workspace",
            "--all-features",
            "--locked",
            "--lib",
            "--bins",
            "--tests",
            "--exclude",
            OWN_STAGE,
        ];
        seeded(Invocation::cargo(&targets)).run()?;
    }
    Ok(Verdict::Passed)
}

/// Apart from the other tests because nextest does not run them.
fn doc_tests() -> Result<Verdict, Failure> {
    Invocation::cargo(&["test", "--doc", "--workspace", "--all-features", "--locked"]).run()?;
    Ok(Verdict::Passed)
}

/// Tests that try many cases, or do so against the clock, are optimised.
const OPTIMISED_TESTS: [&str; 6] = [
    "test",
    "--profile",
    "optimised",
    "--locked",
    "--package",
    "everstep",
];

fn hot_equals_cold() -> Result<Verdict, Failure> {
    let only = ["--test", "random"];
    let all = Invocation::cargo(&[&OPTIMISED_TESTS[..], &only[..]].concat());
    seeded(all).run()?;
    Ok(Verdict::Passed)
}

fn kill9() -> Result<Verdict, Failure> {
    let both = ["--package", "everstep-server", "--test", "kill9"];
    Invocation::cargo(&[&OPTIMISED_TESTS[..], &both[..]].concat()).run()?;
    Ok(Verdict::Passed)
}

/// What the command line asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selection {
    quick: bool,
    /// Empty means all.
    names: Vec<String>,
}

impl Selection {
    fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut selection = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => selection.quick = true,
                "--stage" => {
                    let name = args
                        .next()
                        .ok_or_else(|| Failure::usage("--stage takes a NAME"))?;
                    selection.names.push(name.clone());
                }
                unknown => {
                    let message = format!("`test` has no option `{unknown}`; see cargo xtask help");
                    return Err(Failure::usage(message));
                }
            }
        }
        Ok(selection)
    }

    /// A stage named outright runs even under `--quick`: it was asked for.
    fn choose<'a>(&self, all: &[&'a Stage]) -> Result<Vec<&'a Stage>, Failure> {
        if let Some(unknown) = self
            .names
            .iter()
            .find(|name| all.iter().all(|s| s.name != **name))
        {
            let known = all
                .iter()
                .map(|stage| stage.name)
                .collect::<Vec<_>>()
                .join(", ");
            return Err(Failure::usage(format!(
                "no stage `{unknown}`; there are: {known}"
            )));
        }
        let wanted = |stage: &&&Stage| {
            if self.names.is_empty() {
                !(self.quick && stage.release)
            } else {
                self.names.iter().any(|name| name == stage.name)
            }
        };
        Ok(all.iter().filter(wanted).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Stage = Stage {
        name: "slow",
        about: "",
        release: true,
        run: || Ok(Verdict::Passed),
    };

    fn chosen(args: &[&str]) -> Result<Vec<&'static str>, String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let mut all = stages();
        all.push(&SLOW);
        let selection = Selection::parse(&args).map_err(|failure| failure.to_string())?;
        let stages = selection
            .choose(&all)
            .map_err(|failure| failure.to_string())?;
        Ok(stages.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn everything_runs_in_order_unless_told_otherwise() {
        let all: Vec<&str> = stages().iter().map(|stage| stage.name).collect();
        assert_eq!(chosen(&[]).unwrap(), [&all[..], &["slow"]].concat());
        let is_quick = |stage: &&&'static Stage| !stage.release;
        let quick: Vec<&str> = stages()
            .iter()
            .filter(is_quick)
            .map(|stage| stage.name)
            .collect();
        assert_eq!(chosen(&["--quick"]).unwrap(), quick);
        assert!(quick.len() < all.len(), "some stage is slow");
    }

    #[test]
    fn a_named_stage_runs_alone_even_when_quick_would_leave_it_out() {
        assert_eq!(chosen(&["--stage", "tidy"]).unwrap(), ["tidy"]);
        assert_eq!(chosen(&["--quick", "--stage", "slow"]).unwrap(), ["slow"]);
        assert_eq!(
            chosen(&["--stage", "tests", "--stage", "lint"]).unwrap(),
            ["lint", "tests"]
        );
    }

    #[test]
    fn a_mistyped_command_line_is_refused_and_says_what_there_is() {
        assert!(
            chosen(&["--stage", "tets"])
                .unwrap_err()
                .contains("no stage `tets`; there are: tools")
        );
        assert!(chosen(&["--stage"]).unwrap_err().contains("takes a NAME"));
        assert!(
            chosen(&["--fast"])
                .unwrap_err()
                .contains("no option `--fast`")
        );
    }

    #[test]
    fn stage_names_are_unique() {
        let mut names: Vec<&str> = stages().iter().map(|stage| stage.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
