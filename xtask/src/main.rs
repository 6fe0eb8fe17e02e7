//! `cargo xtask`: the development commands of the repository, the same on a laptop and in CI. This
//! file only parses the command line; each command has a file of its name. The crate uses only the
//! standard library, so that the first `cargo xtask` of a fresh clone is quick.

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
mod hostile;
mod install;
mod lanes;
mod manifest;
mod postgres;
mod process;
mod program;
mod python;
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
cargo xtask: development commands of this repository

  cargo xtask test            everything a change must pass
      -p CRATE                only the tests of one crate, such as `engine`
      --stage NAME            only this stage (may be repeated)
  cargo xtask gate            the quick part of it: formatting, tidy, lints, tests and doctests
  cargo xtask check           formatting, tidy, lints and documentation, without running anything
  cargo xtask tidy            the rules of this repository that no compiler checks
  cargo xtask bench [ARGS]    the benchmark, built for distribution; measures everything without ARGS
      --out FILE              write the results as JSON
  cargo xtask costs           count the instructions of the hot path and compare them with the recorded counts
      --accept                record the new counts
  cargo xtask conform         run the public Durable Streams suite and the stock clients against the server, on each store
  cargo xtask api             lint the description of the API, and run schemathesis against the API
  cargo xtask sim             simulate clusters with faults at every call
      --seeds N               number of seeds (2,000)
      --minutes M             start no seed after M minutes
      --seed S [--timeline]   one seed, with its timeline
      --from S                first seed
      --exhaustive [--twice]  crash canonical workflows at every call, and at every call of each recovery
        --store postgres      the same on a PostgreSQL server
      --planted [NAME]        plant every known bug, or this one, and fail unless it is found
  cargo xtask cluster         run real processes on one PostgreSQL under faults and check the result
      --minutes M             duration of the faults (2)
      --seed S                seed of programs and faults (1)
  cargo xtask hostile         attack a server and measure what its other clients notice
      --rounds N              how often to repeat all attacks (5)
  cargo xtask fuzz [TARGET]   fuzz the decoders longer than the tests do
      --minutes M             duration per target (1)
  cargo xtask help            print this text
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
        return Err(Failure::usage("a command is missing"));
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
        "hostile" => hostile::run(rest),
        "help" | "--help" | "-h" => {
            print_help();
            Ok(())
        }
        unknown => {
            print_help();
            Err(Failure::usage(format!("unknown command `{unknown}`")))
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
