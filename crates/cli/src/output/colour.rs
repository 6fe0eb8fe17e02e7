//! Terminal colours.

use std::io::IsTerminal;

use everstep_model::{RunStatus, StepStatus};

/// A colour, named by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Good,
    Bad,
    Waiting,
    Quiet,
    Strong,
    /// One of several colours that distinguish runs.
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    is_enabled: bool,
}

impl Paint {
    /// Enables colours if stdout is a terminal that supports them and `NO_COLOR` is not set.
    pub(crate) fn of_stdout() -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            is_enabled: std::io::stdout().is_terminal() && !no_colour && !dumb,
        }
    }

    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        match (self.is_enabled, colour.code()) {
            (true, code) if !code.is_empty() => format!("{code}{text}{RESET}"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
impl Paint {
    pub(crate) const NONE: Self = Self { is_enabled: false };
    pub(crate) const ALL: Self = Self { is_enabled: true };
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
