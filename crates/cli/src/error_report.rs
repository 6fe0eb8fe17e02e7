//! Reports the error of a command: `error: <message> [code]` with a remedy, or JSON, and the exit
//! code.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Error;
use everstep::errors::StoreError;
use everstep::errors::{OpenError, ReadError};
use everstep::{ErrorCode, WaitError};
use everstep_protocol::client::{CallError, InvalidUrl};
use serde_json::json;

use crate::error_pages;
use crate::output::escape_controls;
use crate::usage_error::UsageError;

/// Prints the error to stderr and returns the exit code.
pub(crate) fn report(error: &Error, is_json: bool) -> ExitCode {
    if is_broken_pipe(error) {
        // The reader of stdout, such as `head`, has closed it.
        return ExitCode::SUCCESS;
    }
    let text = match is_json {
        true => as_json(error),
        false => as_text(error),
    };
    // If stderr is closed, the exit code is the only report.
    let _ = writeln!(std::io::stderr(), "{text}");
    ExitCode::from(exit_code(error, code_of(error)))
}

fn as_json(error: &Error) -> String {
    let code = code_of(error);
    let fields = json!({
        "message": format!("{error:#}"),
        "code": code.map(ErrorCode::as_str),
        "remedy": remedy_of(error),
        "exitCode": exit_code(error, code),
    });
    json!({"error": fields}).to_string()
}

fn as_text(error: &Error) -> String {
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
    let text: Vec<String> = text.lines().map(escape_controls).collect();
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
            // The run exists. It does not accept the event or the answer.
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

/// Returns the code of the first error in the chain that has one.
fn code_of(error: &Error) -> Option<ErrorCode> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return Some(error.code());
        }
        if let Some(error) = cause.downcast_ref::<ReadError>() {
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
    fn an_unusable_store_has_its_own_exit_code() {
        let place = "here".to_owned();
        let error = Error::from(OpenError::Store(StoreError::Locked { place }));
        let code = code_of(&error);
        assert_eq!(code, Some(ErrorCode::StoreLocked));
        assert_eq!(exit_code(&error, code), 3);
    }

    #[test]
    fn http_statuses_map_to_exit_codes() {
        for (status, expected) in [(401, 5), (403, 5), (404, 6), (409, 7), (422, 7), (503, 1)] {
            let problem = Problem::new(status, "No", "no");
            let error = Error::from(CallError::Problem(problem)).context("the request failed");
            assert_eq!(exit_code(&error, code_of(&error)), expected, "{status}");
        }
        for code in [ErrorCode::EventNotAccepted, ErrorCode::RpcNotOpen] {
            let problem = Problem::new(404, "Not Found", "no").coded(code);
            let error = Error::from(CallError::Problem(problem));
            assert_eq!(exit_code(&error, code_of(&error)), 7, "{code}");
        }
        let address = "http://localhost".to_owned();
        let unreachable = CallError::Transport(TransportError::ConnectionRefused { address });
        assert_eq!(exit_code(&Error::from(unreachable), None), 4);
    }

    #[test]
    fn json_and_text_have_the_same_content() {
        let error = Error::from(UsageError {
            what: "no".to_owned(),
            remedy: "yes".to_owned(),
        });
        let json: serde_json::Value = serde_json::from_str(&as_json(&error)).unwrap();
        let expected = json!({"message": "no", "code": null, "remedy": "yes", "exitCode": 2});
        assert_eq!(json["error"], expected);
        assert_eq!(as_text(&error), "error: no\n\nyes");
    }

    #[test]
    fn a_usage_error_has_the_exit_code_of_clap() {
        let error = Error::from(UsageError {
            what: "no".to_owned(),
            remedy: "yes".to_owned(),
        });
        assert_eq!(exit_code(&error, None), 2);
    }
}
