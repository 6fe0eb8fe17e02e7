//! `POST /v1/workers/{session}/append`: what happened, of many runs at once.

use everstep_model::record::{ParentClose, TimerPurpose};
use everstep_model::{Location, RecordNumber, RpcId, RunId, RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

use super::journal::{WireEntry, WireRecord};

/// What happened, and which runs the worker is done with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendRequest {
    /// At most one per run.
    #[cfg_attr(feature = "schema", schemars(length(max = super::APPENDS_MAX)))]
    pub appends: Vec<OneAppend>,
    /// Tokens of runs it has let go of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<String>,
}

/// What happened in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneAppend {
    /// The right to append.
    pub token: String,
    /// Which append under this token, from 1. The last one again gets the answer it got.
    pub seq: u64,
    /// The records.
    pub records: Vec<WireRecord>,
    /// What it means for the run.
    pub then: ThenWord,
    /// The run's status from then on, where `then` takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::RunWord>"))]
    pub status: Option<RunStatus>,
    /// How many records of the journal the worker knows.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub seen: RecordNumber,
    /// How many inbox records it knows.
    pub inbox_seen: u64,
    /// Whether an operation resolves by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Rows that nothing needs any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obsolete: Vec<ObsoleteRow>,
    /// Children that the run no longer waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left>,
}

/// What an append means for its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ThenWord {
    /// It goes on.
    Continue,
    /// It goes on with a status, and nothing came that was not folded.
    GoOnAs,
    /// It waits for its inbox, and nothing came that was not folded.
    Suspend,
    /// It is parked until somebody acts.
    Park,
    /// It goes back to the queue.
    Release,
    /// It is over, and nothing came that was not folded.
    End,
    /// It is over, by something that is in its journal already.
    EndAnyway,
}

/// A row that nothing needs any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ObsoleteRow {
    /// A timer.
    Timer {
        /// When it would have fired.
        #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
        due: Timestamp,
        /// What for.
        #[cfg_attr(feature = "schema", schemars(with = "crate::schema::PurposeWord"))]
        purpose: TimerPurpose,
        /// The operation it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        location: Option<Location>,
    },
    /// A question that can no longer be answered.
    Rpc {
        /// The question.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        id: RpcId,
    },
}

/// A child that its parent no longer waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Left {
    /// The operation that started it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub location: Location,
    /// The child.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub run: RunId,
    /// What becomes of it.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::CloseWord"))]
    pub on_close: ParentClose,
}

/// One answer per append, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendAnswer {
    /// The answers.
    pub answers: Vec<OneAnswer>,
    /// The server's clock.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub now: Timestamp,
}

/// What became of an append.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", try_from = "AnswerFields")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OneAnswer {
    /// It is durable.
    Appended {
        /// The number of its first record.
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        first: RecordNumber,
        /// What landed before it: folded first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        before: Vec<WireEntry>,
    },
    /// It was refused, because something came that the worker had not folded. Nothing is written.
    Missed {
        /// What came.
        came: Vec<WireEntry>,
    },
    /// The right is lost. Nothing is written.
    Lost,
}

/// An answer as it is read. Its fields are read by themselves, because a record's exact bytes are lost to who reads a tagged value
/// whole before it knows the tag.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AnswerFields {
    outcome: OutcomeWord,
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    first: Option<RecordNumber>,
    #[serde(default)]
    before: Vec<WireEntry>,
    #[serde(default)]
    came: Vec<WireEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum OutcomeWord {
    Appended,
    Missed,
    Lost,
}

impl TryFrom<AnswerFields> for OneAnswer {
    type Error = &'static str;

    fn try_from(fields: AnswerFields) -> Result<Self, Self::Error> {
        match fields.outcome {
            OutcomeWord::Appended => Ok(Self::Appended {
                first: fields.first.ok_or("what is appended has a first record")?,
                before: fields.before,
            }),
            OutcomeWord::Missed => Ok(Self::Missed { came: fields.came }),
            OutcomeWord::Lost => Ok(Self::Lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::entry_from_json;

    use super::*;

    #[test]
    fn answers_come_back_with_the_records_in_them() {
        let line = r#"{"type":"workflow:event","key":"run","value":{"name":"zero","payload":1e0,"dedupId":null,"replyTo":null,"by":null},"headers":{"operation":"insert","timestamp":"2026-01-01T00:00:00.010Z","number":4}}"#;
        let entry = || WireEntry(entry_from_json(line).unwrap());
        for answer in [
            OneAnswer::Appended {
                first: RecordNumber(5),
                before: vec![entry()],
            },
            OneAnswer::Appended {
                first: RecordNumber(5),
                before: Vec::new(),
            },
            OneAnswer::Missed {
                came: vec![entry(), entry()],
            },
            OneAnswer::Lost,
        ] {
            let written = serde_json::to_string(&answer).unwrap();
            let read: OneAnswer = serde_json::from_str(&written).unwrap();
            assert_eq!(read, answer, "{written}");
        }
        let nowhere = r#"{"outcome":"appended"}"#;
        assert!(serde_json::from_str::<OneAnswer>(nowhere).is_err());
    }
}
