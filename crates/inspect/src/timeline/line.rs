//! One line of a timeline, for people (`Display`) and for programs (one line of JSON). The JSON has
//! the fields of [`Line`] in their order, without those that have no value.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use std::fmt;
use std::time::Duration;

use everstep_model::{
    Actor, Failure, Location, Payload, RecordNumber, RecordRange, Timestamp, one_line,
};
use serde::{Deserialize, Serialize, Serializer};

/// One line of a timeline. Displayed as its sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The number of the record, or of the first dropped record.
    pub number: RecordNumber,
    pub time: Timestamp,
    /// The record's type name, or `records_dropped`.
    pub kind: &'static str,
    /// The operation that the record is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    pub actor: Actor,
    /// The author that the record names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What happened, in plain English on one line, without payloads.
    pub sentence: String,
    /// Set if the record ends something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How long the operation took that the record ends, if its start is known.
    #[serde(
        rename = "durationMs",
        skip_serializing_if = "Option::is_none",
        serialize_with = "whole_millis"
    )]
    pub duration: Option<Duration>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The input, result, event, answer or value. `None` if it must not be shown.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json_or_null"
    )]
    pub payload: Option<Payload>,
    /// Whether a payload is withheld because its step is sensitive.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The dropped records that this line stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<RecordRange>,
}

/// The outcome of an operation or of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    Ok,
    /// Failed without another attempt.
    Failed,
    /// Failed, with another attempt to come.
    Retrying,
    TimedOut,
    /// Dropped before it ended.
    Abandoned,
    /// Given a result, or passed over, without running.
    Skipped,
    Undone,
    /// Ended by a request, after the code had a chance to react.
    Cancelled,
    /// Ended by a request, immediately.
    Terminated,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.sentence)
    }
}

/// Returns the lines as JSON, one object per line, each terminated by a newline.
#[must_use]
pub fn to_json_lines(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        // Serialization cannot fail: keys are strings, and a payload that is not JSON becomes
        // `null`.
        let json = serde_json::to_string(line).unwrap_or_default();
        text.push_str(&one_line(json));
        text.push('\n');
    }
    text
}

fn whole_millis<S: Serializer>(duration: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
    let millis = duration.map(|lasted| u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX));
    millis.serialize(out)
}

/// Payloads were checked when they were received. A damaged one does not prevent the rest of the
/// line.
fn json_or_null<S: Serializer>(payload: &Option<Payload>, out: S) -> Result<S::Ok, S::Error> {
    let parsed = payload.as_ref().map(|payload| {
        let raw = serde_json::from_slice::<&serde_json::value::RawValue>(payload.as_bytes());
        raw.ok()
    });
    parsed.flatten().serialize(out)
}
