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

/// Installs a package of Debian, unless the program it brings is there.
pub(crate) fn program(name: &str, package: &str) -> Result<(), Failure> {
    if Invocation::new(name, &["--version"]).succeeds_quietly() {
        return Ok(());
    }
    self::package(package)
}

pub(crate) fn package(name: &str) -> Result<(), Failure> {
    let install = ["install", "--yes", "--no-install-recommends", name];
    let as_root = Invocation::new("id", &["-u"]).output_quietly();
    let install = match as_root.as_deref() {
        Some(b"0\n") => Invocation::new("apt-get", &install),
        _ => Invocation::new("sudo", &[&["apt-get"], &install[..]].concat()),
    };
    install.variable("DEBIAN_FRONTEND", "noninteractive").run()
}
