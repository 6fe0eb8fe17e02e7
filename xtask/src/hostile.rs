//! `cargo xtask hostile`: attacks a server in several ways, and prints what each attack costs the
//! server and a well-behaved client. The stage of the same name checks memory and correctness only.

use crate::builds;
use crate::failure::Failure;
use crate::stage::Verdict;

/// How often the command repeats all attacks by default.
const ROUNDS: &str = "5";

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let rounds = match args {
        [] => ROUNDS,
        [option, rounds] if option == "--rounds" && rounds.parse::<u32>().is_ok() => rounds,
        _ => {
            let message = "`hostile` takes only `--rounds N`";
            return Err(Failure::usage(message));
        }
    };
    let command = builds::workspace(
        "test",
        &["--release", "--test", "hostile", "--", "--rounds", rounds],
    );
    command.run()
}

pub(crate) fn stage() -> Result<Verdict, Failure> {
    builds::optimised_test("hostile").run()?;
    Ok(Verdict::Passed)
}
