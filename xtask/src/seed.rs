//! Which random cases the tests look at. The command that says whether a change may land must say the same of the same
//! code twice, so it names a seed; new ground is for longer runs with seeds of their own.

use std::env;

use crate::process::Invocation;

/// The variable proptest takes its seed from.
const VARIABLE: &str = "PROPTEST_RNG_SEED";
const SEED: &str = "20261116";

/// The same command with the seed of this repository, unless whoever calls has chosen one.
pub(crate) fn seeded(command: Invocation) -> Invocation {
    match env::var_os(VARIABLE) {
        Some(_) => command,
        None => command.variable(VARIABLE, SEED),
    }
}
