//! `cargo xtask cluster`: a cluster of real processes on a private PostgreSQL server, under faults.
//! Arguments are passed on; see `docs/cluster.md`.

use crate::builds;
use crate::failure::Failure;
use crate::process::Invocation;
use crate::stage::Verdict;

/// How long every change must withstand faults.
const MINUTES: &str = "2";

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let program = builds::optimised_program("everstep-cluster")?;
    Invocation::new(&program.display().to_string(), &[])
        .args(args)
        .run()
}

/// The stage `cluster`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run(&["--minutes".to_owned(), MINUTES.to_owned()])?;
    Ok(Verdict::Passed)
}
