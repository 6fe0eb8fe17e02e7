//! `cargo xtask sim`: the simulation of whole clusters, optimised, on all cores. Arguments are
//! passed on; see `docs/simulation.md`.

use crate::builds;
use crate::failure::Failure;
use crate::process::Invocation;
use crate::stage::Verdict;
use crate::workspace;

/// Seeds that every change must pass.
const SEEDS: &str = "2000";

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    match args.split_first() {
        Some((first, rest)) if first == "--planted" => planted(rest),
        _ => start("everstep-sim", args),
    }
}

/// The stage `sim`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run(&["--exhaustive".to_owned()])?;
    run(&["--seeds".to_owned(), SEEDS.to_owned()])?;
    Ok(Verdict::Passed)
}

/// The stage `planted`.
pub(crate) fn planted_stage() -> Result<Verdict, Failure> {
    let test = [builds::PLANTED, &["--test", "planted"]].concat();
    builds::workspace("test", &test).run()?;
    planted(&[])?;
    Ok(Verdict::Passed)
}

/// Searches for planted bugs, in a build that contains them.
fn planted(args: &[String]) -> Result<(), Failure> {
    let name = "everstep-planted";
    let build = [builds::PLANTED, &["--bin", name]].concat();
    builds::workspace("build", &build).run()?;
    let program = workspace::target().join("release").join(name);
    Invocation::new(&program.display().to_string(), &[])
        .args(args)
        .run()
}

fn start(name: &str, args: &[String]) -> Result<(), Failure> {
    let program = builds::optimised_program(name)?;
    Invocation::new(&program.display().to_string(), &[])
        .args(args)
        .run()
}
