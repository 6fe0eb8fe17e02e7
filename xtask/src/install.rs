//! What the stages need on the machine besides cargo. Only what is required and quick to get is
//! installed; a tool that only saves time is used where it is present.

use crate::failure::Failure;
use crate::postgres;
use crate::process::Invocation;
use crate::stage::Verdict;

/// The stage `tools`.
pub(crate) fn tools() -> Result<Verdict, Failure> {
    component("rustfmt", "fmt")?;
    component("clippy", "clippy")?;
    postgres::install()?;
    let runner = if nextest_is_present() {
        "cargo nextest"
    } else {
        "cargo test (cargo-nextest is faster and is used where it is installed)"
    };
    println!("      tests will be run by {runner}");
    Ok(Verdict::Passed)
}

/// Compiling nextest takes minutes, more than it saves in one run, so it is never installed.
pub(crate) fn nextest_is_present() -> bool {
    Invocation::cargo(&["nextest", "--version"]).succeeds_quietly()
}

/// `rust-toolchain.toml` lists the components, but a toolchain installed earlier may lack them.
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

/// Installs a Debian package, unless the program it contains is present.
pub(crate) fn program(name: &str, package: &str) -> Result<(), Failure> {
    if Invocation::new(name, &["--version"]).succeeds_quietly() {
        return Ok(());
    }
    self::package(package)
}

pub(crate) fn package(name: &str) -> Result<(), Failure> {
    let install = apt(&["install", "--yes", "--no-install-recommends", name]);
    if install.run().is_ok() {
        return Ok(());
    }
    // A new machine has no list of packages, or an old one.
    apt(&["update"]).run()?;
    install.run()
}

fn apt(args: &[&str]) -> Invocation {
    let user = Invocation::new("id", &["-u"]).output_quietly();
    let command = match user.as_deref() {
        Some(b"0\n") => Invocation::new("apt-get", args),
        _ => Invocation::new("sudo", &[&["apt-get"], args].concat()),
    };
    command.variable("DEBIAN_FRONTEND", "noninteractive")
}
