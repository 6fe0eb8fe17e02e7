//! `cargo xtask bench`: runs `everstep bench` from the release build. Passes all arguments on: without
//! any, it measures all workloads; `--out FILE` writes the results as JSON.

use crate::failure::Failure;
use crate::process::Invocation;

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let bench = [
        "run",
        "--release",
        "--locked",
        "--package",
        "everstep-cli",
        "--",
        "bench",
    ];
    Invocation::cargo(&bench).args(args).run()
}
