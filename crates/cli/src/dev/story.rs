//! What a record means, in plain words.

use std::time::Duration;

use everstep::record::{FailureOutcome, RowOperation, StepFailed, TimerFired};
use everstep::{Body, Location, Payload, Timestamp};
use everstep_model::record::TimerPurpose;

/// How a line feels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// Something began or was said.
    Plain,
    /// Something succeeded.
    Good,
    /// Something failed.
    Bad,
    /// Something waits.
    Waiting,
}

/// Payloads are shown up to this many characters.
const PAYLOAD_CHARS_MAX: usize = 96;

/// The record as a sentence.
pub(super) fn tell(time: Timestamp, body: &Body) -> (Mood, String) {
    match body {
        Body::Created(_)
        | Body::Completed(_)
        | Body::Failed(_)
        | Body::Cancelled(_)
        | Body::Terminated(_)
        | Body::Diverged(_)
        | Body::Paused(_) => tell_life(body),
        Body::StepStarted(_) | Body::StepCompleted(_) | Body::StepFailed(_) => {
            tell_step(time, body)
        }
        Body::Note(note) => (Mood::Plain, format!("note: {}", note.text)),
        Body::Emitted(emitted) => (
            Mood::Plain,
            format!("emits {}: {}", emitted.topic, short(&emitted.payload)),
        ),
        Body::StateChanged(row) => {
            let (place, value) = (format!("{}/{}", row.collection, row.key), short(&row.value));
            match row.operation {
                RowOperation::Upsert => (Mood::Plain, format!("row {place} is now {value}")),
                RowOperation::Delete => (Mood::Plain, format!("row {place} is gone")),
            }
        }
        _ => tell_wait(time, body),
    }
}

fn tell_life(body: &Body) -> (Mood, String) {
    match body {
        Body::Created(created) => (
            Mood::Plain,
            format!("created with {}", short(&created.input)),
        ),
        Body::Completed(end) => (Mood::Good, format!("completed with {}", short(&end.result))),
        Body::Failed(end) => (Mood::Bad, format!("failed: {}", end.error)),
        Body::Diverged(stop) => (
            Mood::Bad,
            format!("stopped, its code does not fit its journal: {}", stop.error),
        ),
        Body::Paused(stop) => match &stop.reason {
            Some(reason) => (Mood::Bad, format!("stopped: {reason}")),
            None => (Mood::Waiting, "paused".to_owned()),
        },
        other => (Mood::Bad, other.type_name().replace('_', " ")),
    }
}

fn tell_step(time: Timestamp, body: &Body) -> (Mood, String) {
    match body {
        Body::StepStarted(step) => {
            let again = if step.attempt > 1 {
                format!(" (attempt {})", step.attempt)
            } else {
                String::new()
            };
            (
                Mood::Plain,
                format!("step {} begins{again}", shown(&step.location)),
            )
        }
        Body::StepCompleted(step) => {
            let result = if step.sensitive {
                "a secret".to_owned()
            } else {
                short(&step.result)
            };
            let took = lasting(step.started_at.until(time));
            (
                Mood::Good,
                format!("step {} done in {took}: {result}", shown(&step.location)),
            )
        }
        Body::StepFailed(step) => tell_failure(time, step),
        other => (Mood::Plain, other.type_name().replace('_', " ")),
    }
}

fn tell_failure(time: Timestamp, step: &StepFailed) -> (Mood, String) {
    let name = shown(&step.location);
    let what = format!(
        "step {name} failed (attempt {}): {}",
        step.attempt, step.error
    );
    let then = match (step.outcome, step.retry_at) {
        (FailureOutcome::Retrying, Some(at)) => {
            format!("next attempt in {}", lasting(time.until(at)))
        }
        (FailureOutcome::Retrying, None) => "next attempt at once".to_owned(),
        (FailureOutcome::Exhausted, _) => "no retries are left".to_owned(),
        (FailureOutcome::Fatal, _) => "not worth retrying".to_owned(),
        (FailureOutcome::TimedOut, _) => "it took too long".to_owned(),
        (FailureOutcome::RollBack, _) => "it asks to roll back".to_owned(),
        (FailureOutcome::Cancelled, _) => "the run is being cancelled".to_owned(),
    };
    (Mood::Bad, format!("{what}; {then}"))
}

fn tell_wait(time: Timestamp, body: &Body) -> (Mood, String) {
    let until = |deadline: Option<Timestamp>| {
        deadline.map_or_else(String::new, |at| {
            format!(" for up to {}", lasting(time.until(at)))
        })
    };
    match body {
        Body::Sleeping(sleep) => {
            let length = lasting(time.until(sleep.until));
            (
                Mood::Waiting,
                format!("sleeps {length} in {}", shown(&sleep.location)),
            )
        }
        Body::TimerFired(timer) => (Mood::Plain, tell_timer(timer)),
        Body::Waiting(wait) => {
            let names: Vec<_> = wait.names.iter().map(ToString::to_string).collect();
            (
                Mood::Waiting,
                format!(
                    "waits for event {}{}",
                    names.join(" or "),
                    until(wait.deadline)
                ),
            )
        }
        Body::Event(event) => (
            Mood::Plain,
            format!("event {} came: {}", event.name, short(&event.payload)),
        ),
        Body::WaitCompleted(wait) => (Mood::Good, format!("event {} taken", shown(&wait.location))),
        Body::WaitTimedOut(wait) => (
            Mood::Plain,
            format!("no event {} in time", shown(&wait.location)),
        ),
        Body::RpcRequested(question) => {
            let (method, args) = (&question.method, short(&question.args));
            (
                Mood::Waiting,
                format!("asks {method} {args}{}", until(question.deadline)),
            )
        }
        Body::RpcAnswered(answer) => (Mood::Plain, format!("answered: {}", short(&answer.answer))),
        Body::RpcCompleted(question) if question.timed_out => (
            Mood::Plain,
            format!("no answer to {} in time", shown(&question.location)),
        ),
        Body::RpcCompleted(question) => (
            Mood::Good,
            format!("answer to {} taken", shown(&question.location)),
        ),
        other => {
            let what = other.type_name().replace('_', " ");
            let place = other
                .location()
                .map_or_else(String::new, |at| format!(" {}", shown(at)));
            (Mood::Plain, format!("{what}{place}"))
        }
    }
}

fn tell_timer(timer: &TimerFired) -> String {
    let place = timer.location.as_ref().map(shown).unwrap_or_default();
    match timer.purpose {
        TimerPurpose::Sleep => format!("wakes from {place}"),
        TimerPurpose::Wait => format!("the wait for {place} is over"),
        TimerPurpose::Rpc => format!("the time for an answer to {place} is over"),
        TimerPurpose::Retry => format!("time to try step {place} again"),
        TimerPurpose::ExecutionRetry => "time to run again".to_owned(),
        TimerPurpose::Child => format!("the time for child {place} is over"),
        TimerPurpose::Undo => format!("time to try undoing step {place} again"),
        TimerPurpose::Deadline => "its deadline passed".to_owned(),
    }
}

/// `charge` for `charge:0`: the counter matters only from the second on.
fn shown(location: &Location) -> String {
    let text = location.to_string();
    text.strip_suffix(":0").unwrap_or(&text).to_owned()
}

fn short(payload: &Payload) -> String {
    let text = payload.as_str();
    if text.chars().count() <= PAYLOAD_CHARS_MAX {
        return text.to_owned();
    }
    let start: String = text.chars().take(PAYLOAD_CHARS_MAX).collect();
    format!("{start}…")
}

/// A duration as people say it.
pub(super) fn lasting(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", duration.as_secs_f64()),
        60_000..3_600_000 => format!("{} min", millis / 60_000),
        3_600_000..86_400_000 => format!("{} h", millis / 3_600_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}

#[cfg(test)]
mod tests {
    use everstep::record::{Note, Sleeping, StepFailed};
    use everstep::{ErrorCode, Failure, Name};

    use super::*;

    fn told(body: impl Into<Body>) -> String {
        tell(Timestamp::from_millis(1_000), &body.into()).1
    }

    fn at(name: &str, counter: u32) -> Location {
        Location::root(Name::new(name).unwrap(), counter)
    }

    #[test]
    fn a_failed_attempt_says_why_and_when_it_goes_on() {
        let body = StepFailed {
            location: at("charge", 0),
            attempt: 1,
            started_at: Timestamp::from_millis(900),
            error: Failure::new(ErrorCode::StepFailed, "the bank is busy").named("step_failed"),
            outcome: FailureOutcome::Retrying,
            retry_at: Some(Timestamp::from_millis(3_000)),
            undo: None,
            retries_left: None,
        };
        let sentence = "step charge failed (attempt 1): the bank is busy; next attempt in 2.0 s";
        assert_eq!(told(body), sentence);
    }

    #[test]
    fn a_sleep_says_how_long_and_a_second_one_of_its_name_is_counted() {
        let until = Timestamp::from_millis(3_601_000);
        let location = at("nap", 1);
        assert_eq!(told(Sleeping { location, until }), "sleeps 1 h in nap:1");
    }

    #[test]
    fn a_note_is_told_as_it_was_written() {
        let location = at("note", 0);
        let text = "so far so good".to_owned();
        assert_eq!(told(Note { location, text }), "note: so far so good");
    }
}
