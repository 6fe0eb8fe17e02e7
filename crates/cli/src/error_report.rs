//! Reports the error of a command: `error: <message> [code]` with a remedy, or JSON, and the exit
//! code.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Error;
use everstep::ErrorCode;
use everstep::errors::CodedError;
use everstep_protocol::client::{CallError, InvalidUrl};
use everstep_server::KeyError;
use serde_json::json;

use crate::commands::key::UnknownKey;
use crate::commands::unknown_workflow::UnknownWorkflow;
use crate::error_pages;
use crate::hosting::StoreNotOpened;
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

/// Reports an error of the command line, help or the version, and returns the exit code.
pub(crate) fn report_usage(
    error: &clap::Error,
    mut arguments: impl Iterator<Item = OsString>,
) -> ExitCode {
    if error.use_stderr() && arguments.any(|argument| argument == "--json") {
        let _ = writeln!(std::io::stderr(), "{}", usage_as_json(error));
    } else {
        // If the terminal is closed, the exit code is the only report.
        let _ = error.print();
    }
    // 2 for errors, 0 for help and the version.
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn usage_as_json(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.trim().trim_start_matches("error: ");
    let (message, remedy) = text.split_once("\n\n").unwrap_or((text, ""));
    let message: Vec<&str> = message.lines().map(str::trim).collect();
    json_object(&message.join(" "), None, Some(remedy), 2)
}

fn as_json(error: &Error) -> String {
    let code = code_of(error);
    let (message, exit_code) = (format!("{error:#}"), exit_code(error, code));
    json_object(&message, code, remedy_of(error), exit_code)
}

fn json_object(
    message: &str,
    code: Option<ErrorCode>,
    remedy: Option<&str>,
    exit_code: u8,
) -> String {
    let fields = json!({
        "message": message,
        "code": code.map(ErrorCode::as_str),
        "remedy": remedy,
        "exitCode": exit_code,
    });
    json!({"error": fields}).to_string()
}

fn as_text(error: &Error) -> String {
    let (code, remedy) = (code_of(error), remedy_of(error).unwrap_or_default());
    let text = match code {
        Some(code) => {
            format!("error: {error:#} [{code}]\n\n{remedy}\n\nMore: everstep explain {code}")
        }
        None if remedy.is_empty() => format!("error: {error:#}"),
        None => format!("error: {error:#}\n\n{remedy}"),
    };
    let text: Vec<String> = text.lines().map(escape_controls).collect();
    text.join("\n")
}

fn remedy_of(error: &Error) -> Option<&str> {
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        return Some(&usage.remedy);
    }
    if let Some(unknown) = error.downcast_ref::<UnknownWorkflow>() {
        return Some(&unknown.remedy);
    }
    let not_opened = error.downcast_ref::<StoreNotOpened>();
    let remedy = not_opened.and_then(StoreNotOpened::remedy);
    remedy.or_else(|| code_of(error).and_then(error_pages::remedy))
}

fn exit_code(error: &Error, code: Option<ErrorCode>) -> u8 {
    if error.is::<UsageError>() || error.is::<InvalidUrl>() {
        return 2;
    }
    if let Some(exit_code) = code.and_then(exit_code_of) {
        return exit_code;
    }
    let mut causes = error.chain();
    match causes.find_map(|cause| cause.downcast_ref::<CallError>()) {
        Some(call) => call.status().map_or(4, exit_code_of_status),
        None => 1,
    }
}

/// The exit code for the status of a response whose code does not determine it.
fn exit_code_of_status(status: u16) -> u8 {
    match status {
        401 | 403 => 5,
        404 => 6,
        429 | 503 => 9,
        400..500 => 7,
        _ => 1,
    }
}

/// The exit code for an error code, the same for an engine in this process and for a server.
fn exit_code_of(code: ErrorCode) -> Option<u8> {
    let exit_code = match code {
        ErrorCode::StoreLocked
        | ErrorCode::StoreNewer
        | ErrorCode::StoreCorrupt
        | ErrorCode::StoreFull
        | ErrorCode::StoreUnavailable
        | ErrorCode::StorePoisoned
        | ErrorCode::StoreUnsafe => 3,
        ErrorCode::ServerUnreachable => 4,
        ErrorCode::Unauthenticated | ErrorCode::TokenExpired | ErrorCode::Forbidden => 5,
        ErrorCode::UnknownRun
        | ErrorCode::UnknownWorkflow
        | ErrorCode::UnknownOperation
        | ErrorCode::UnknownKey => 6,
        ErrorCode::InvalidName
        | ErrorCode::InvalidRunId
        | ErrorCode::InvalidOptions
        | ErrorCode::InvalidRequest
        | ErrorCode::PayloadTooLarge
        | ErrorCode::Unserializable
        | ErrorCode::Undecodable
        | ErrorCode::RunExists
        | ErrorCode::RunFinished
        | ErrorCode::EventNotAccepted
        | ErrorCode::TooManyEvents
        | ErrorCode::RpcNotOpen
        | ErrorCode::SchemaMismatch
        | ErrorCode::WrongState => 7,
        ErrorCode::TooBusy | ErrorCode::ShuttingDown => 9,
        _ => return None,
    };
    Some(exit_code)
}

/// Returns the code of the first error in the chain that has one.
fn code_of(error: &Error) -> Option<ErrorCode> {
    error.chain().find_map(|cause| {
        if let Some(call) = cause.downcast_ref::<CallError>() {
            return match call {
                CallError::Transport(_) => Some(ErrorCode::ServerUnreachable),
                call => call.code(),
            };
        }
        if cause.is::<UnknownKey>() {
            return Some(ErrorCode::UnknownKey);
        }
        match cause.downcast_ref() {
            Some(KeyError::Invalid(_) | KeyError::TooMany) => Some(ErrorCode::InvalidOptions),
            Some(KeyError::Failed(error)) => Some(error.code()),
            _ => everstep::errors::code_of(cause),
        }
    })
}

fn is_broken_pipe(error: &Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests;
