//! How a command ended: exit codes for scripts, `error: <what> [code]` and a remedy for people.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Error;
use everstep::{EngineError, ErrorCode, OpenError, StoreError, WaitError};
use everstep_protocol::client::{CallError, InvalidUrl};
use serde_json::json;

use crate::error_pages;
use crate::output::clean;

/// How a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As hoped.
    Well,
    /// Some of what was asked for was refused.
    Refused,
    /// The run that was waited for did not complete.
    RunFailed,
    /// Somebody interrupted it.
    Interrupted,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Well => Self::SUCCESS,
            Ending::Refused => Self::from(7),
            Ending::RunFailed => Self::from(8),
            Ending::Interrupted => Self::from(130),
        }
    }
}

/// The command line asks for something that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct UsageError {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

/// Says what went wrong and what to do, and gives the exit code.
pub(crate) fn report(error: &Error, is_json: bool) -> ExitCode {
    if is_broken_pipe(error) {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    let text = match is_json {
        true => for_programs(error),
        false => for_people(error),
    };
    // If stderr is gone too, the exit code must do.
    let _ = writeln!(std::io::stderr(), "{text}");
    ExitCode::from(exit_code(error, code_of(error)))
}

fn for_programs(error: &Error) -> String {
    let code = code_of(error);
    let told = json!({
        "message": format!("{error:#}"),
        "code": code.map(ErrorCode::as_str),
        "remedy": remedy_of(error),
        "exitCode": exit_code(error, code),
    });
    json!({"error": told}).to_string()
}

fn for_people(error: &Error) -> String {
    let code = code_of(error);
    let mut text = format!("error: {error:#}");
    if let Some(code) = code {
        text.push_str(&format!(" [{code}]"));
    }
    if let Some(remedy) = remedy_of(error) {
        text.push_str(&format!("\n\n{remedy}"));
    }
    if let Some(code) = code {
        text.push_str(&format!("\n\nMore: everstep explain {code}"));
    }
    let text: Vec<String> = text.lines().map(clean).collect();
    text.join("\n")
}

fn remedy_of(error: &Error) -> Option<&str> {
    match error.downcast_ref::<UsageError>() {
        Some(usage) => Some(&usage.remedy),
        None => code_of(error).and_then(error_pages::remedy),
    }
}

fn exit_code(error: &Error, code: Option<ErrorCode>) -> u8 {
    if error.is::<UsageError>() || error.is::<InvalidUrl>() {
        return 2;
    }
    if let Some(call) = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<CallError>())
    {
        return match call.status() {
            None => 4,
            Some(401 | 403) => 5,
            // The run is there; what was sent to it is what it does not know.
            Some(404) if code == Some(ErrorCode::EventNotAccepted) => 7,
            Some(404) if code == Some(ErrorCode::RpcNotOpen) => 7,
            Some(404) => 6,
            Some(400..500) => 7,
            Some(_) => 1,
        };
    }
    match code {
        Some(
            ErrorCode::StoreLocked
            | ErrorCode::StoreNewer
            | ErrorCode::StoreCorrupt
            | ErrorCode::StoreFull
            | ErrorCode::StoreUnavailable
            | ErrorCode::StorePoisoned
            | ErrorCode::StoreUnsafe,
        ) => 3,
        _ => 1,
    }
}

/// The code of the first error in the chain that has one.
fn code_of(error: &Error) -> Option<ErrorCode> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return Some(error.code());
        }
        if let Some(error) = cause.downcast_ref::<EngineError>() {
            return Some(error.code());
        }
        if let Some(error) = cause.downcast_ref::<WaitError>() {
            return Some(error.code());
        }
        if let Some(error) = cause.downcast_ref::<CallError>() {
            return error.code();
        }
        cause.downcast_ref::<OpenError>().map(OpenError::code)
    })
}

fn is_broken_pipe(error: &Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use everstep_protocol::Problem;
    use everstep_protocol::client::TransportError;

    use super::*;

    #[test]
    fn a_store_that_cannot_be_used_has_an_exit_code_of_its_own() {
        let place = "here".to_owned();
        let error = Error::from(OpenError::Store(StoreError::Locked { place }));
        let code = code_of(&error);
        assert_eq!(code, Some(ErrorCode::StoreLocked));
        assert_eq!(exit_code(&error, code), 3);
    }

    #[test]
    fn what_a_server_says_has_exit_codes_of_its_own() {
        for (status, expected) in [(401, 5), (403, 5), (404, 6), (409, 7), (422, 7), (503, 1)] {
            let problem = Problem::new(status, "No", "no");
            let error = Error::from(CallError::Problem(problem)).context("it did not work");
            assert_eq!(exit_code(&error, code_of(&error)), expected, "{status}");
        }
        for code in [ErrorCode::EventNotAccepted, ErrorCode::RpcNotOpen] {
            let problem = Problem::new(404, "Not Found", "no").coded(code);
            let error = Error::from(CallError::Problem(problem));
            assert_eq!(exit_code(&error, code_of(&error)), 7, "{code}");
        }
        let address = "http://localhost".to_owned();
        let nobody = CallError::Transport(TransportError::Nobody { address });
        assert_eq!(exit_code(&Error::from(nobody), None), 4);
    }

    #[test]
    fn programs_are_told_the_same_as_people() {
        let error = Error::from(UsageError {
            what: "no".to_owned(),
            remedy: "yes".to_owned(),
        });
        let told: serde_json::Value = serde_json::from_str(&for_programs(&error)).unwrap();
        let expected = json!({"message": "no", "code": null, "remedy": "yes", "exitCode": 2});
        assert_eq!(told["error"], expected);
        assert_eq!(for_people(&error), "error: no\n\nyes");
    }

    #[test]
    fn a_wrong_command_line_ends_like_claps_own() {
        let error = Error::from(UsageError {
            what: "no".to_owned(),
            remedy: "yes".to_owned(),
        });
        assert_eq!(exit_code(&error, None), 2);
    }
}
