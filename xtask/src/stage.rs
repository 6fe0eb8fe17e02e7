//! A stage of `cargo xtask gate` and `cargo xtask test`: a named check with the lane it runs in.
//! `lanes.rs` runs stages; the lists of stages are in `check.rs` and `test.rs`.

use std::fmt::Write as _;

use crate::failure::Failure;

/// One stage. To add one, write its function and put it into the list of `check` or `test`.
#[derive(Debug)]
pub(crate) struct Stage {
    /// The argument of `--stage`.
    pub(crate) name: &'static str,
    /// One line for the help text.
    pub(crate) about: &'static str,
    /// Whether `cargo xtask gate` includes it.
    pub(crate) in_gate: bool,
    pub(crate) lane: Lane,
    pub(crate) run: fn() -> Result<Verdict, Failure>,
}

impl Stage {
    /// A stage of the main lane.
    pub(crate) const fn main(
        name: &'static str,
        about: &'static str,
        run: fn() -> Result<Verdict, Failure>,
    ) -> Self {
        Self {
            name,
            about,
            in_gate: false,
            lane: Lane::Main,
            run,
        }
    }

    /// Runs the stage in `cargo xtask gate` too.
    pub(crate) const fn in_gate(self) -> Self {
        Self {
            in_gate: true,
            ..self
        }
    }

    /// Runs the stage beside the main lane, after this stage of it.
    pub(crate) const fn beside(self, after: &'static str) -> Self {
        Self {
            lane: Lane::Beside { after },
            ..self
        }
    }
}

/// Where a stage runs in a full run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// One after the other, with visible output.
    Main,
    /// Beside the main lane, with its output in a file. For stages that mostly wait.
    Beside {
        /// The stage of the main lane that must have passed before.
        after: &'static str,
    },
}

/// How a stage ended when it did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// There was nothing to do, for this reason.
    Skipped(String),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

/// The stages as the help text lists them.
pub(crate) fn describe(stages: &[&Stage]) -> String {
    stages.iter().fold(String::new(), |mut text, stage| {
        let gate = if stage.in_gate { "gate" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<16} {:<5} {}", stage.name, gate, stage.about);
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_text_marks_stages_of_the_gate() {
        let stage = |name| Stage::main(name, "does nothing", || Ok(Verdict::Passed));
        assert_eq!(
            describe(&[&stage("quick").in_gate(), &stage("slow")]),
            "  quick            gate  does nothing\n  slow                   does nothing\n"
        );
    }
}
