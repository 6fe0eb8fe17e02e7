//! Every state of a run, with its reasons as data and as text.

mod steered;
mod working;

use std::time::Duration;

use everstep_model::record::*;
use everstep_model::{Body, ErrorCode, Failure, RpcId, RunId, RunStatus, StepOptions};

use crate::tests::*;
use crate::{Reason, why};

/// Checks the reasons while a worker offers the code.
fn check(
    bodies: impl IntoIterator<Item = Body>,
    status: RunStatus,
    reasons: &[Reason],
    sentence: &str,
) {
    let answer = why(
        &Journal::created().with_all(bodies).overview(),
        true,
        time(0),
    );
    assert_eq!(answer.status, status);
    assert_eq!(answer.reasons, reasons);
    assert_eq!(answer.to_string(), format!("{status}: {sentence}"));
}

fn alice() -> Option<String> {
    Some("alice".to_owned())
}

fn running(step: &str, second: u64) -> Reason {
    Reason::StepRunning {
        step: at(step),
        attempt: 1,
        since: Some(time(second)),
        lacks_timeout: false,
    }
}

fn sleeps(location: &str) -> Reason {
    Reason::TimerAt {
        location: at(location),
        due: time(200),
    }
}

fn waits(location: &str, names: &[&str], second: u64) -> Reason {
    Reason::Event {
        location: at(location),
        names: names.iter().map(|text| name(text)).collect(),
        since: time(second),
        deadline: Some(time(500)),
        batch: 1,
    }
}

fn asks(location: &str, second: u64) -> Reason {
    Reason::Answer {
        location: at(location),
        method: name("approve"),
        rpc_id: RpcId("rpc_1".into()),
        since: time(second),
        deadline: None,
    }
}

fn awaits_child(location: &str, second: u64) -> Reason {
    Reason::Child {
        location: at(location),
        run: RunId::new("ship-1").unwrap(),
        workflow: name("ship"),
        since: time(second),
    }
}

fn pause_requested_by_alice() -> Reason {
    Reason::PauseRequested {
        by: alice(),
        reason: Some("maintenance".to_owned()),
    }
}

fn end_requested_by_alice() -> Reason {
    Reason::CancelRequested {
        by: alice(),
        reason: Some("no".to_owned()),
        rollback: true,
    }
}

fn undoing(attempt: u32, second: u64) -> Reason {
    Reason::UndoRunning {
        step: at("a:0"),
        attempt,
        since: time(second),
    }
}

fn undo_started() -> Body {
    UndoStarted {
        location: at("a:0"),
        attempt: 1,
        run: None,
        ends_run: true,
    }
    .into()
}

fn undo_failed() -> Body {
    UndoFailed {
        location: at("a:0"),
        attempt: 1,
        error: failure("bank closed"),
        retry_at: Some(time(50)),
        run: None,
    }
    .into()
}

fn undo_retry() -> Reason {
    Reason::UndoRetryAt {
        step: at("a:0"),
        attempt: 2,
        at: time(50),
        last_error: failure("bank closed"),
    }
}

const PAUSE_ASKED: &str = "it was asked to pause by alice: maintenance";

const END_ASKED: &str = "it was asked to end and roll back by alice: no";

const UNDOES: &str = "it undoes step `a:0` (attempt 1) since";

const RETRIES_UNDO: &str =
    "it retries undoing step `a:0` (attempt 2) at 2026-11-15T08:00:50.000Z after: bank closed";

#[test]
fn a_diverged_run_shows_the_location_if_it_is_known() {
    let stop = |location: Option<&str>| Diverged {
        location: location.map(at),
        ..diverged("a:0")
    };
    for (location, words) in [(Some("fan/x/a:0"), " in `fan/x/a:0`"), (None, "")] {
        let reason = Reason::Diverged {
            location: location.map(at),
            error: diverged("a:0").error,
        };
        check(
            [sleeping("s:0").into(), stop(location).into()],
            RunStatus::Diverged,
            &[reason],
            &format!(
                "it is parked{words} because its code no longer fits its journal: the journal holds another step"
            ),
        );
    }
}

// B742
#[test]
fn an_attempt_without_a_timeout_is_reported_after_a_minute() {
    for (timeout, seconds, is_reported) in [
        (None, 60, false),
        (None, 61, true),
        (Some(Duration::from_secs(3_600)), 61, false),
    ] {
        let start = StepStarted {
            options: Some(StepOptions {
                timeout,
                ..StepOptions::default()
            }),
            ..started("a:0", 1)
        };
        let journal = Journal::created().with(start);
        let began = journal.0.last().unwrap().record.time;
        let now = began.after(Duration::from_secs(seconds));
        let sentence = why(&journal.overview(), true, now).to_string();
        let warning = "for more than a minute and without a timeout";
        assert_eq!(sentence.contains(warning), is_reported, "{sentence}");
    }
}

#[test]
fn an_ended_run_waits_for_nothing() {
    let ends = RunStatus::ALL.iter().filter(|status| status.is_terminal());
    for &status in ends {
        let before = [Body::from(started("a:0", 1)), cancel("no").into()];
        let journal = before.into_iter().chain(journal_in(status));
        let answer = why(
            &Journal::created().with_all(journal).overview(),
            true,
            time(0),
        );
        assert_eq!(answer.status, status);
        let [Reason::Finished { status: reason, .. }] = &answer.reasons[..] else {
            panic!("{answer:?}");
        };
        assert_eq!(*reason, status);
        let sentence = answer.to_string();
        assert!(
            sentence.contains(&format!("it is over ({status})")),
            "{sentence}"
        );
    }
}

/// A journal for each status. A new status does not compile until it has one.
fn journal_in(status: RunStatus) -> Vec<Body> {
    let error = failure("x");
    let (rolled_back, abandoned) = (true, Vec::new());
    match status {
        RunStatus::Queued => Vec::new(),
        RunStatus::Running => vec![started("a:0", 1).into()],
        RunStatus::Sleeping => vec![sleeping("s:0").into()],
        RunStatus::Waiting => vec![waiting("w:0", &["yes"]).into()],
        RunStatus::Retrying => vec![execution_retried(1).into()],
        RunStatus::Pausing => vec![pause().into()],
        RunStatus::Paused => vec![Paused { reason: None }.into()],
        RunStatus::Cancelling => vec![cancel("no").into()],
        RunStatus::RollingBack => vec![undo_started()],
        RunStatus::Diverged => vec![diverged("a:0").into()],
        RunStatus::Completed => vec![completed().into()],
        RunStatus::Failed => vec![
            Failed {
                error,
                rolled_back,
                abandoned,
                caused_by: Vec::new(),
            }
            .into(),
        ],
        RunStatus::RollbackFailed => {
            let rollback_error = failure("y");
            vec![
                RollbackFailed {
                    error,
                    rollback_error,
                    abandoned: Vec::new(),
                }
                .into(),
            ]
        }
        RunStatus::Cancelled => {
            let reason = None;
            vec![
                Cancelled {
                    reason,
                    rolled_back,
                    abandoned,
                }
                .into(),
            ]
        }
        RunStatus::Terminated => vec![terminated(&[]).into()],
    }
}

#[test]
fn every_status_has_a_reason_and_without_a_worker_one_more() {
    for &status in RunStatus::ALL {
        let overview = Journal::created().with_all(journal_in(status)).overview();
        let (with, without) = (
            why(&overview, true, time(0)),
            why(&overview, false, time(0)),
        );
        assert_eq!((with.status, without.status), (status, status));
        assert!(!with.reasons.is_empty(), "{status}");
        let names_worker = matches!(without.reasons.last(), Some(Reason::NoWorker { .. }));
        assert_eq!(names_worker, !status.is_terminal(), "{status}");
    }
}
