//! `cargo xtask cluster`: a cluster of real processes on a PostgreSQL server of its own, under faults, optimised. Arguments go through
//! untouched; see `docs/guides/scaling.md`.

use crate::failure::Failure;
use crate::process::Invocation;
use crate::stage::Verdict;

/// How long every change must hold.
const MINUTES: &str = "2";

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let cluster = [
        "run",
        "--profile",
        "optimised",
        "--locked",
        "--package",
        "everstep-cluster",
        "--",
    ];
    Invocation::cargo(&cluster).args(args).run()
}

/// The stage of `cargo xtask test`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run(&["--minutes".to_owned(), MINUTES.to_owned()])?;
    Ok(Verdict::Passed)
}
