//! One line of a timeline, for people (`Display`) and for programs (one line of JSON).
//!
//! The fields in JSON, always in this order; those marked `?` are left out where they say nothing:
//!
//! | field | what it holds |
//! |---|---|
//! | `number` | the record's number; of dropped records, the first one's |
//! | `time` | when the record was written, RFC 3339 |
//! | `kind` | the record's type name, or `records_dropped` |
//! | `location?` | the wire id of the operation it is about |
//! | `actor` | `outside`, `engine` or `workflow` |
//! | `by?` | whom the record names as its author |
//! | `sentence` | the line in plain English, without any payload |
//! | `outcome?` | how something came out: see [`Outcome`] |
//! | `durationMs?` | how long what ended here had lasted |
//! | `attempt?` | which attempt, from 1 |
//! | `error?` | `{code, name, message, stack?, cause?, attempt}` |
//! | `payload?` | the input, result, event, answer or value, as the JSON that was given |
//! | `redacted?` | `true` where a payload is withheld because its step is sensitive |
//! | `dropped?` | `{first, last}`: the records that are gone |

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
    /// The record's number; of dropped records, the first one's.
    pub number: RecordNumber,
    /// When the record was written.
    pub time: Timestamp,
    /// The record's type name, or `records_dropped`.
    pub kind: &'static str,
    /// The operation it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Whose doing it is.
    pub actor: Actor,
    /// Whom the record names as its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What happened, in plain English and on one line. It holds no payload.
    pub sentence: String,
    /// How something came out, if the record settles anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How long what ended here had lasted, if its beginning is known.
    #[serde(
        rename = "durationMs",
        skip_serializing_if = "Option::is_none",
        serialize_with = "whole_millis"
    )]
    pub duration: Option<Duration>,
    /// Which attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The input, result, event, answer or value; none if it must not be shown.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json_or_null"
    )]
    pub payload: Option<Payload>,
    /// Whether a payload is withheld because its step is sensitive.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The records that are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<RecordRange>,
}

/// How something came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// As it should.
    Ok,
    /// With an error, and for good.
    Failed,
    /// With an error, and there will be another attempt.
    Retrying,
    /// Too late.
    TimedOut,
    /// Dropped before it ended.
    Abandoned,
    /// Satisfied, or passed over, without running.
    Skipped,
    /// Taken back.
    Undone,
    /// Ended in good order by a request.
    Cancelled,
    /// Ended at once by a request.
    Terminated,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.sentence)
    }
}

/// The lines as JSON, one object per line, each line ended by a newline.
#[must_use]
pub fn to_json_lines(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        // Nothing in a line can refuse to be written: keys are strings, and a payload that is no JSON becomes `null`.
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

/// Stored bytes were checked when they were given; should they be damaged, the rest of the line is still good.
fn json_or_null<S: Serializer>(payload: &Option<Payload>, out: S) -> Result<S::Ok, S::Error> {
    let parsed = payload.as_ref().map(|payload| {
        let raw = serde_json::from_slice::<&serde_json::value::RawValue>(payload.as_bytes());
        raw.ok()
    });
    parsed.flatten().serialize(out)
}
