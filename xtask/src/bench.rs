//! `cargo xtask bench`: runs `everstep bench`, built with the profile `dist` as published binaries
//! are. Passes all arguments on: without any, it measures all workloads; `--out FILE` writes the
//! results as JSON.

use crate::failure::Failure;
use crate::process::Invocation;

pub(crate) fn run(args: &[String]) -> Result<(), Failure> {
    let dist = ["run", "--profile", "dist", "--locked"];
    let bench = ["--bin", "everstep", "--", "bench"];
    Invocation::cargo(&[dist, bench].concat()).args(args).run()
}
