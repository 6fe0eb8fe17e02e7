//! `code_of` covers every error type that the crate exports.

use everstep_model::RunId;

use super::*;

/// Errors of requests. `code_of_request` is generated together with them.
const REQUESTS: &[&str] = &[
    "AnswerError",
    "ControlError",
    "ReadError",
    "SendError",
    "StartError",
];
/// Exported names that `code_of` need not cover: traits, the generic type of the errors of
/// requests, `Error`, which does not implement `std::error::Error`, and an error without a code.
const WITHOUT_CODE: &[&str] = &["ClientError", "CodedError", "Error", "InvalidDuration"];

/// The names that a file re-exports.
fn exported(source: &str) -> impl Iterator<Item = &str> {
    let items = source.split("\npub use ").skip(1);
    let items = items.filter_map(|item| item.split(';').next());
    let names = items.flat_map(|item| {
        let list = item.rsplit_once("::").map_or(item, |(_, names)| names);
        list.trim_matches(['{', '}']).split(',')
    });
    let names = names.map(|name| name.rsplit(" as ").next().unwrap_or(name).trim());
    names.filter(|name| !name.is_empty())
}

#[test]
fn every_exported_error_is_coded_or_listed_without_code() {
    let at_root = exported(include_str!("../lib.rs")).filter(|name| name.ends_with("Error"));
    let known = [CODED, REQUESTS, WITHOUT_CODE].concat();
    let all: Vec<&str> = exported(include_str!("../errors.rs"))
        .chain(at_root)
        .collect();
    assert!(all.len() > 30, "{all:?}");
    for name in all {
        assert!(known.contains(&name), "`code_of` does not cover {name}");
    }
}

#[test]
fn errors_of_all_operations_have_their_code() {
    let missing = || UnknownRun(RunId::new("order-7").unwrap());
    let errors: [Box<dyn std::error::Error>; 7] = [
        Box::new(StartError::from(StartRejection::from(missing()))),
        Box::new(SendError::from(SendRejection::from(missing()))),
        Box::new(AnswerError::from(AnswerRejection::from(missing()))),
        Box::new(ControlError::from(ControlRejection::from(missing()))),
        Box::new(ReadError::from(ReadRejection::from(missing()))),
        Box::new(WaitError::Read(ReadRejection::from(missing()).into())),
        Box::new(RequestError::Send(SendRejection::from(missing()).into())),
    ];
    for error in errors {
        assert_eq!(code_of(&*error), Some(ErrorCode::UnknownRun), "{error:?}");
    }
    assert_eq!(code_of(&std::fmt::Error), None);
}

#[test]
fn details_of_errors_have_their_code() {
    let run = || RunId::new("order-7").unwrap();
    let errors: [(Box<dyn std::error::Error>, ErrorCode); 6] = [
        (Box::new(RunExists(run())), ErrorCode::RunExists),
        (Box::new(OtherFork(run())), ErrorCode::RunExists),
        (
            Box::new(UnknownWorkflow("greet".to_owned())),
            ErrorCode::UnknownWorkflow,
        ),
        (
            Box::new(RunId::new("").unwrap_err()),
            ErrorCode::InvalidRunId,
        ),
        (
            Box::new(everstep_model::Name::new("").unwrap_err()),
            ErrorCode::InvalidName,
        ),
        (
            Box::new(ServerError {
                code: ErrorCode::TooBusy,
                message: "busy".to_owned(),
            }),
            ErrorCode::TooBusy,
        ),
    ];
    for (error, code) in errors {
        assert_eq!(code_of(&*error), Some(code), "{error:?}");
    }
}

#[cfg(feature = "remote")]
#[test]
fn a_worker_or_client_that_cannot_be_created_reports_a_code() {
    let code = code_of(&ConnectError::NoRuntime);
    assert_eq!(code, Some(ErrorCode::InvalidOptions));
}
