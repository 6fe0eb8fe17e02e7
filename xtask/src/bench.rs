//! `cargo xtask bench`: the benchmark built into the product's own binary, so that anybody who has
//! the binary can repeat our numbers. Arguments go through untouched: without any, everything is
//! measured; `--out FILE` writes the results for programs.

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
