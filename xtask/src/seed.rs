//! The seed of random tests. `cargo xtask test` uses a fixed seed, so that it gives the same result
//! for the same code; `cargo test` and longer runs choose new seeds.

use std::env;

use crate::process::Invocation;

/// The variable from which proptest reads its seed.
const VARIABLE: &str = "PROPTEST_RNG_SEED";
const SEED: &str = "20261116";

/// Sets the fixed seed, unless the environment already sets one.
pub(crate) fn seeded(command: Invocation) -> Invocation {
    match env::var_os(VARIABLE) {
        Some(_) => command,
        None => command.variable(VARIABLE, SEED),
    }
}
