//! `cargo xtask check`: what can be judged without running the product. These are also the first
//! stages of `cargo xtask test`.

use crate::failure::Failure;
use crate::process::Invocation;
use crate::stage::{self, Stage, Verdict};
use crate::tidy;

/// Cheapest first, so that a slip is reported in seconds.
pub(crate) const STAGES: &[Stage] = &[
    Stage {
        name: "format",
        about: "rustfmt finds nothing to change",
        release: false,
        run: format,
    },
    Stage {
        name: "tidy",
        about: "the rules of the house",
        release: false,
        run: tidy,
    },
    Stage {
        name: "lint",
        about: "clippy without a warning",
        release: false,
        run: lint,
    },
    Stage {
        name: "docs",
        about: "rustdoc without a warning",
        release: false,
        run: docs,
    },
];

pub(crate) fn run() -> Result<(), Failure> {
    stage::run_in_order(&STAGES.iter().collect::<Vec<_>>())
}

fn format() -> Result<Verdict, Failure> {
    Invocation::cargo(&["fmt", "--all", "--check"])
        .run()
        .map_err(|failure| failure.with_line("  to let rustfmt repair it:  cargo fmt --all"))?;
    Ok(Verdict::Passed)
}

fn lint() -> Result<Verdict, Failure> {
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    Invocation::cargo(&clippy).run()?;
    // What a user gets who leaves everything optional out.
    let bare = [
        "clippy",
        "--package",
        "everstep",
        "--no-default-features",
        "--locked",
    ];
    Invocation::cargo(&[&bare[..], &["--", "-D", "warnings"]].concat()).run()?;
    Ok(Verdict::Passed)
}

fn docs() -> Result<Verdict, Failure> {
    Invocation::cargo(&[
        "doc",
        "--no-deps",
        "--workspace",
        "--all-features",
        "--locked",
    ])
    .variable("RUSTDOCFLAGS", "-D warnings")
    .run()?;
    Ok(Verdict::Passed)
}

fn tidy() -> Result<Verdict, Failure> {
    tidy::run()?;
    Ok(Verdict::Passed)
}
