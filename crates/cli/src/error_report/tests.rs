//! Codes, remedies and exit codes of errors.

use everstep::RunId;
use everstep::errors::{
    AnswerError, AnswerRejection, ControlError, ControlRejection, OpenError, ReadError,
    ReadRejection, SendError, SendRejection, StartError, StartRejection, StoreError, Unavailable,
    UnknownRun, WaitError,
};
use everstep_protocol::Problem;
use everstep_protocol::client::TransportError;

use super::*;

/// Each error of a request, and of waiting for a run, with the same cause.
fn errors_of_all_operations<E>(cause: impl Fn() -> E) -> Vec<Error>
where
    StartRejection: From<E>,
    SendRejection: From<E>,
    AnswerRejection: From<E>,
    ControlRejection: From<E>,
    ReadRejection: From<E>,
{
    vec![
        StartError::from(StartRejection::from(cause())).into(),
        SendError::from(SendRejection::from(cause())).into(),
        AnswerError::from(AnswerRejection::from(cause())).into(),
        ControlError::from(ControlRejection::from(cause())).into(),
        ReadError::from(ReadRejection::from(cause())).into(),
        WaitError::from(StartError::from(StartRejection::from(cause()))).into(),
    ]
}

#[test]
fn every_operation_in_this_process_reports_code_remedy_and_exit_code() {
    let unknown = || UnknownRun(RunId::new("order-7").unwrap());
    let full = || {
        Unavailable::Store(StoreError::Full {
            place: "here".to_owned(),
        })
    };
    let unknown = errors_of_all_operations(unknown).into_iter();
    let full = errors_of_all_operations(full).into_iter();
    let unknown = unknown.map(|error| (error, ErrorCode::UnknownRun, 6));
    let full = full.map(|error| (error, ErrorCode::StoreFull, 3));
    for (error, code, exit) in unknown.chain(full) {
        let error = error.context("the benchmark failed");
        assert_eq!(code_of(&error), Some(code), "{error:?}");
        assert_eq!(remedy_of(&error), error_pages::remedy(code), "{error:?}");
        assert_eq!(exit_code(&error, Some(code)), exit, "{error:?}");
    }
}

#[test]
fn a_key_that_cannot_be_stored_reports_the_code_of_the_store() {
    let error = Error::from(KeyError::Failed(Unavailable::ShuttingDown.into()));
    assert_eq!(code_of(&error), Some(ErrorCode::ShuttingDown));
}

#[test]
fn requests_about_keys_report_the_same_as_over_http() {
    for (error, code, exit) in [
        (
            Error::from(KeyError::Invalid("no")),
            ErrorCode::InvalidOptions,
            7,
        ),
        (KeyError::TooMany.into(), ErrorCode::InvalidOptions, 7),
        (
            UnknownKey("0123".to_owned()).into(),
            ErrorCode::UnknownKey,
            6,
        ),
    ] {
        assert_eq!(code_of(&error), Some(code), "{error:?}");
        assert_eq!(exit_code(&error, Some(code)), exit, "{error:?}");
    }
}

#[test]
fn invalid_content_has_the_exit_code_of_a_refused_request() {
    for code in [ErrorCode::Undecodable, ErrorCode::InvalidRequest] {
        assert_eq!(exit_code_of(code), Some(7), "{code}");
    }
}

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
    for (status, expected) in [
        (401, 5),
        (403, 5),
        (404, 6),
        (409, 7),
        (422, 7),
        (429, 9),
        (500, 1),
        (503, 9),
    ] {
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

// B855
#[test]
fn requests_to_repeat_later_have_the_same_exit_code_with_any_status() {
    for (status, code, expected) in [
        (429, ErrorCode::TooBusy, 9),
        (503, ErrorCode::TooBusy, 9),
        (503, ErrorCode::ShuttingDown, 9),
        (503, ErrorCode::StoreFull, 3),
        (507, ErrorCode::StoreFull, 3),
    ] {
        let problem = Problem::new(status, "No", "no").coded(code);
        let error = Error::from(CallError::Problem(problem));
        assert_eq!(exit_code(&error, code_of(&error)), expected, "{code}");
    }
    let in_process = Error::from(KeyError::Failed(Unavailable::ShuttingDown.into()));
    assert_eq!(exit_code(&in_process, code_of(&in_process)), 9);
}

#[test]
fn json_and_text_have_the_same_content() {
    let error = Error::from(UsageError::new("no", "yes"));
    let json: serde_json::Value = serde_json::from_str(&as_json(&error)).unwrap();
    let expected = json!({"message": "no", "code": null, "remedy": "yes", "exitCode": 2});
    assert_eq!(json["error"], expected);
    assert_eq!(as_text(&error), "error: no\n\nyes");
}

#[test]
fn a_usage_error_has_the_exit_code_of_clap() {
    let error = Error::from(UsageError::new("no", "yes"));
    assert_eq!(exit_code(&error, None), 2);
}
