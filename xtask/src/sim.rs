//! `cargo xtask sim`: the simulation of whole clusters, optimised, on all cores. Arguments go through untouched; see
//! `docs/simulation.md`.

use crate::failure::Failure;
use crate::process::Invocation;
use crate::stage::Verdict;

/// Seeds that every change must pass.
const SEEDS: &str = "2000";

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let sim = [
        "run",
        "--profile",
        "optimised",
        "--locked",
        "--package",
        "everstep-sim",
        "--",
    ];
    Invocation::cargo(&sim).args(args).run()
}

/// The stage of `cargo xtask test`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run(&["--exhaustive".to_owned()])?;
    run(&["--seeds".to_owned(), SEEDS.to_owned()])?;
    run(&["--planted".to_owned()])?;
    Ok(Verdict::Passed)
}
