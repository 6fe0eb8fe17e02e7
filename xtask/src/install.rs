//! What the stages need on the machine, beyond cargo itself. Only what is required and quick to get is
//! installed; a tool that merely makes things nicer is used where it is found.

use crate::failure::Failure;
use crate::postgres;
use crate::process::Invocation;
use crate::stage::Verdict;

/// The first stage of `test`.
pub(crate) fn tools() -> Result<Verdict, Failure> {
    component("rustfmt", "fmt")?;
    component("clippy", "clippy")?;
    postgres::install()?;
    let runner = if nextest_is_present() {
        "cargo nextest"
    } else {
        "cargo test (cargo-nextest is faster; it is used when it is there)"
    };
    println!("      tests will be run by {runner}");
    Ok(Verdict::Passed)
}

/// Compiling nextest costs minutes, more than it saves in one run, so it is never installed from here.
pub(crate) fn nextest_is_present() -> bool {
    Invocation::cargo(&["nextest", "--version"]).succeeds_quietly()
}

/// `rust-toolchain.toml` lists the components, but a toolchain that was there before may lack them.
fn component(name: &str, subcommand: &str) -> Result<(), Failure> {
    if Invocation::cargo(&[subcommand, "--version"]).succeeds_quietly() {
        return Ok(());
    }
    Invocation::new("rustup", &["component", "add", name])
        .run()
        .map_err(|failure| {
            failure.with_line(&format!(
                "  `cargo {subcommand}` is needed and could not be added"
            ))
        })
}
