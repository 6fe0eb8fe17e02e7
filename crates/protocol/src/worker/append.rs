//! `POST /v1/workers/{session}/append`: appends records of many runs.

use everstep_model::record::{ParentClose, TimerPurpose};
use everstep_model::{Location, RecordNumber, RpcId, RunId, RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

use super::journal::{WireEntry, WireRecord};

/// Records to append, and runs that the worker has released.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendRequest {
    /// At most one append per run.
    #[cfg_attr(feature = "schema", schemars(length(max = super::APPENDS_MAX)))]
    pub appends: Vec<OneAppend>,
    /// The tokens of released runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<String>,
}

/// The records of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneAppend {
    /// The token of the claim, which gives the right to append.
    pub token: String,
    /// The number of the append under this token, from 1. Repeating the last append returns the
    /// same response.
    pub seq: u64,
    /// The records, in order.
    pub records: Vec<WireRecord>,
    /// The effect on the run.
    pub then: ThenWord,
    /// The new status of the run, if `then` requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    /// How many records of the journal the worker has read.
    pub seen: RecordNumber,
    /// How many inbox records the worker has read.
    pub inbox_seen: u64,
    /// Whether the append resolves an operation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Rows that are no longer needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obsolete: Vec<ObsoleteRow>,
    /// Children that the run no longer waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<AbandonedChild>,
}

/// The effect of an append on its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ThenWord {
    /// The run continues.
    Continue,
    /// The run continues with a new status. Rejected if there are unread inbox records.
    GoOnAs,
    /// The run suspends until its inbox has new records. Rejected if there are unread inbox
    /// records.
    Suspend,
    /// The run is parked until an operator acts.
    Park,
    /// The run returns to the queue.
    Release,
    /// The run ends. Rejected if there are unread inbox records.
    End,
    /// The run ends because of a record that is already in its journal.
    EndAnyway,
}

/// A row that is no longer needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ObsoleteRow {
    /// A timer.
    Timer {
        /// When it is due.
        due: Timestamp,
        /// Its purpose.
        purpose: TimerPurpose,
        /// The operation it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<Location>,
    },
    /// An rpc that can no longer be answered.
    Rpc {
        /// The ID of the rpc.
        id: RpcId,
    },
}

/// A child that its parent no longer waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbandonedChild {
    /// The operation that started it.
    pub location: Location,
    /// The ID of the child.
    pub run: RunId,
    /// What happens to it.
    pub on_close: ParentClose,
}

/// One result per append, in the order of the appends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendAnswer {
    /// The results.
    pub answers: Vec<OneAnswer>,
    /// The server's clock.
    pub now: Timestamp,
}

/// The result of an append.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", try_from = "AnswerFields")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OneAnswer {
    /// The records are durable.
    Appended {
        /// The number of the first appended record.
        first: RecordNumber,
        /// Records that precede the appended ones and that the worker has not read. Fold them
        /// first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        before: Vec<WireEntry>,
    },
    /// Rejected because of unread inbox records. Nothing was written.
    Missed {
        /// The unread records.
        came: Vec<WireEntry>,
    },
    /// The claim is lost. Nothing was written.
    Lost,
    /// The worker may not make this append. Nothing was written.
    Refused {
        /// Why, as a code.
        code: String,
        /// Why, for people.
        detail: String,
    },
}

/// A result with its fields still undecoded. Decoding a tagged value as a whole would lose the
/// exact bytes of records.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AnswerFields {
    outcome: OutcomeWord,
    first: Option<RecordNumber>,
    #[serde(default)]
    before: Vec<WireEntry>,
    #[serde(default)]
    came: Vec<WireEntry>,
    code: Option<String>,
    #[serde(default)]
    detail: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum OutcomeWord {
    Appended,
    Missed,
    Lost,
    Refused,
}

impl TryFrom<AnswerFields> for OneAnswer {
    type Error = &'static str;

    fn try_from(fields: AnswerFields) -> Result<Self, Self::Error> {
        match fields.outcome {
            OutcomeWord::Appended => Ok(Self::Appended {
                first: fields.first.ok_or("`appended` requires `first`")?,
                before: fields.before,
            }),
            OutcomeWord::Missed => Ok(Self::Missed { came: fields.came }),
            OutcomeWord::Lost => Ok(Self::Lost),
            OutcomeWord::Refused => Ok(Self::Refused {
                code: fields.code.ok_or("`refused` requires `code`")?,
                detail: fields.detail,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::entry_from_json;

    use super::*;

    #[test]
    fn results_round_trip_with_their_records() {
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
            OneAnswer::Refused {
                code: "invalid_append".to_owned(),
                detail: "a run has one terminal record".to_owned(),
            },
        ] {
            let written = serde_json::to_string(&answer).unwrap();
            let read: OneAnswer = serde_json::from_str(&written).unwrap();
            assert_eq!(read, answer, "{written}");
        }
        for incomplete in [r#"{"outcome":"appended"}"#, r#"{"outcome":"refused"}"#] {
            assert!(serde_json::from_str::<OneAnswer>(incomplete).is_err());
        }
    }
}
