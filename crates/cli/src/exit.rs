//! The result of a command that ended without an error, and its exit code.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// Parts of a store cannot be read.
    Damaged,
    /// At least one of several runs refused the request.
    Refused,
    /// The command waited for a run that did not complete.
    RunFailed,
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Success => Self::SUCCESS,
            Exit::Damaged => Self::from(3),
            Exit::Refused => Self::from(7),
            Exit::RunFailed => Self::from(8),
            Exit::Interrupted => Self::from(130),
        }
    }
}
