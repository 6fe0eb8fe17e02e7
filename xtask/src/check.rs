//! `cargo xtask check`: what can be judged without running the product. These are also the first
//! stages of `cargo xtask gate` and `cargo xtask test`.

use crate::builds;
use crate::failure::Failure;
use crate::lanes;
use crate::process::Invocation;
use crate::stage::{Stage, Verdict};
use crate::tidy;

/// Cheapest first, so that a simple mistake is reported in seconds.
pub(crate) const STAGES: &[Stage] = &[
    Stage::main("format", "rustfmt has nothing to change", format).in_gate(),
    Stage::main(
        "tidy",
        "the rules of this repository that no compiler checks",
        tidy,
    )
    .in_gate(),
    Stage::main("lint", "clippy without a warning", lint).in_gate(),
    Stage::main("docs", "rustdoc without a warning", docs),
];

pub(crate) fn run() -> Result<(), Failure> {
    lanes::run(&STAGES.iter().collect::<Vec<_>>())
}

fn format() -> Result<Verdict, Failure> {
    Invocation::cargo(&["fmt", "--all", "--check"])
        .run()
        .map_err(|failure| failure.with_line("  to let rustfmt repair it:  cargo fmt --all"))?;
    Ok(Verdict::Passed)
}

fn lint() -> Result<Verdict, Failure> {
    let strict = ["--", "-D", "warnings"];
    builds::workspace("clippy", &[&["--all-targets"], &strict[..]].concat()).run()?;
    // The smallest feature set that users can choose, and that of a worker or client.
    for features in ["", "remote"] {
        let set = [
            "--package",
            "everstep",
            "--no-default-features",
            "--features",
            features,
        ];
        let command = [&["clippy", "--locked"], &set[..], &strict[..]].concat();
        Invocation::cargo(&command).run()?;
    }
    Ok(Verdict::Passed)
}

fn docs() -> Result<Verdict, Failure> {
    builds::workspace("doc", &["--no-deps"])
        .variable("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(Verdict::Passed)
}

fn tidy() -> Result<Verdict, Failure> {
    tidy::run()?;
    Ok(Verdict::Passed)
}
