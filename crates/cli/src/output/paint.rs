//! Colours, where somebody looks and wants them.

use std::io::IsTerminal;

use everstep_model::{RunStatus, StepStatus};

/// A colour, by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Good,
    Bad,
    Waiting,
    Quiet,
    Strong,
    /// One of a few that tell runs apart.
    Run(usize),
}

const RESET: &str = "\x1b[0m";
/// Blue, magenta, cyan.
const RUNS: [&str; 3] = ["\x1b[34m", "\x1b[35m", "\x1b[36m"];

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Waiting => "\x1b[33m",
            Self::Quiet => "\x1b[2m",
            Self::Strong => "\x1b[1m",
            Self::Run(number) => RUNS.get(number % RUNS.len()).copied().unwrap_or_default(),
        }
    }

    pub(crate) fn of_run(status: RunStatus) -> Self {
        match status {
            RunStatus::Completed => Self::Good,
            RunStatus::Failed | RunStatus::RollbackFailed | RunStatus::Diverged => Self::Bad,
            RunStatus::Cancelled | RunStatus::Terminated => Self::Quiet,
            RunStatus::Running => Self::Plain,
            _ => Self::Waiting,
        }
    }

    pub(crate) fn of_step(status: StepStatus) -> Self {
        match status {
            StepStatus::Completed => Self::Good,
            StepStatus::Failed | StepStatus::Exhausted | StepStatus::TimedOut => Self::Bad,
            StepStatus::Retrying => Self::Waiting,
            _ => Self::Plain,
        }
    }
}

/// Whether colours are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Paint {
    /// Colours on a terminal that knows them, unless `NO_COLOR` says no.
    pub(crate) fn of_stdout() -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            is_on: std::io::stdout().is_terminal() && !no_colour && !dumb,
        }
    }

    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        match (self.is_on, colour.code()) {
            (true, code) if !code.is_empty() => format!("{code}{text}{RESET}"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
impl Paint {
    pub(crate) const NONE: Self = Self { is_on: false };
    pub(crate) const ALL: Self = Self { is_on: true };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_end_where_their_text_ends() {
        assert_eq!(Paint::ALL.paint(Colour::Bad, "no"), "\x1b[31mno\x1b[0m");
        assert_eq!(Paint::ALL.paint(Colour::Plain, "so"), "so");
        assert_eq!(Paint::NONE.paint(Colour::Bad, "no"), "no");
    }
}
