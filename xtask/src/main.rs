//! `cargo xtask`: every chore of the repository behind one command, the same on a laptop and in CI.
//! This file only reads the command line and hands over; each command lives in a file of its name.
//! It uses the standard library alone, so that the first `cargo xtask` of a fresh clone is quick.

mod api;
mod bench;
mod builds;
mod check;
mod cluster;
mod commands;
mod conform;
mod costs;
mod documents;
mod examples;
mod failure;
mod fuzz;
mod install;
mod lanes;
mod manifest;
mod postgres;
mod process;
mod program;
mod scratch;
mod seed;
mod served;
mod sim;
mod stage;
mod terminal;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use failure::Failure;

const HELP: &str = "\
cargo xtask: the chores of this repository

  cargo xtask test            everything a change must pass
      -p CRATE                only the tests of one crate, such as `engine`
      --stage NAME            only this stage (may be repeated)
  cargo xtask gate            the quick part of it: formatting, tidy, lints, tests and doctests
  cargo xtask check           formatting, tidy, lints and documentation, without running anything
  cargo xtask tidy            the rules of this repository that no compiler checks
  cargo xtask bench [ARGS]    the product's own benchmark, built with the release profile; everything without ARGS
      --out FILE              write the results for programs
  cargo xtask costs           counts the instructions of the hot path and compares them with those that are kept
      --accept                keeps what was counted
  cargo xtask conform         the public Durable Streams suite and the stock clients against the server, on each store
  cargo xtask api             schemathesis against the API as the server describes it
  cargo xtask sim             simulated clusters with faults at every call
      --seeds N               this many seeds (2,000)
      --minutes M             no new seed after M minutes
      --seed S [--timeline]   one seed, with its timeline
      --from S                the first of many seeds
      --exhaustive [--twice]  canonical workflows, a crash at every call, and at every call of each recovery
        --store postgres      the same on a PostgreSQL server
      --planted [NAME]        plants every bug there is, or this one, and fails if it is not found
  cargo xtask cluster         real processes on one PostgreSQL, killed, stopped and cut off, checked when all is over
      --minutes M             how long things go wrong (2)
      --seed S                which programs and which faults (1)
  cargo xtask fuzz [TARGET]   feeds decoders what nobody wrote, longer than the tests do
      --minutes M             how long each target is fed (1 if not said)
  cargo xtask help            this text
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nxtask: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(args: &[String]) -> Result<(), Failure> {
    let Some((command, rest)) = args.split_first() else {
        print_help();
        return Err(Failure::usage("name a command"));
    };
    match command.as_str() {
        "check" => no_arguments(command, rest).and_then(|()| check::run()),
        "gate" => no_arguments(command, rest).and_then(|()| test::gate()),
        "test" => test::run(rest),
        "tidy" => no_arguments(command, rest).and_then(|()| tidy::run()),
        "bench" => bench::run(rest),
        "conform" => no_arguments(command, rest).and_then(|()| conform::run()),
        "api" => no_arguments(command, rest).and_then(|()| api::run()),
        "costs" => costs::run(rest),
        "sim" => sim::run(rest),
        "cluster" => cluster::run(rest),
        "fuzz" => fuzz::run(rest),
        "help" | "--help" | "-h" => {
            print_help();
            Ok(())
        }
        unknown => {
            print_help();
            Err(Failure::usage(format!("there is no command `{unknown}`")))
        }
    }
}

fn no_arguments(command: &str, rest: &[String]) -> Result<(), Failure> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(Failure::usage(format!(
            "`{command}` takes no arguments, but got `{extra}`"
        ))),
    }
}

fn print_help() {
    print!("{HELP}");
    println!(
        "\nStages of `cargo xtask test`, in order; `gate` runs those marked so:\n{}",
        stage::describe(&test::stages())
    );
}
