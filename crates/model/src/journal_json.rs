//! Records as JSON, in the envelope of the State Protocol. A journal file has one line per record.
//!
//! `key` is the location of the operation, or `run` for records about the run; `value.name` is
//! added for human readers. Exported journals serve as fixtures that are replayed against later
//! code.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::offset::RecordNumber;
use crate::record::{Body, Entry, Record, RowOperation};
use crate::time::Timestamp;

const PREFIX: &str = "workflow:";

/// Why a line is not a record of a journal.
#[derive(Debug, thiserror::Error)]
pub enum InvalidJournalLine {
    /// The line is not an envelope.
    #[error("the line is not a journal record: {0}")]
    Envelope(#[source] serde_json::Error),
    /// A record kind that this release does not know.
    #[error(
        "the line holds a record of type {0:?}, which this release does not know; upgrade Everstep"
    )]
    UnknownType(String),
    /// The record number is missing.
    #[error("the line has no record number")]
    NoNumber,
    /// The fields do not fit the kind.
    #[error("the fields of a {kind:?} record do not fit: {error}")]
    #[allow(missing_docs, reason = "the message explains them")]
    Fields {
        kind: String,
        error: serde_json::Error,
    },
}

#[derive(Serialize)]
struct EnvelopeOut<'a> {
    #[serde(rename = "type")]
    kind: String,
    key: String,
    value: Box<RawValue>,
    headers: HeadersOut<'a>,
}

#[derive(Serialize)]
struct HeadersOut<'a> {
    operation: &'a str,
    timestamp: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<RecordNumber>,
}

#[derive(Deserialize)]
struct EnvelopeIn<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    value: &'a RawValue,
    headers: HeadersIn,
}

#[derive(Deserialize)]
struct HeadersIn {
    timestamp: Timestamp,
    #[serde(default)]
    number: Option<RecordNumber>,
}

/// Encodes a record as one line of JSON.
pub fn entry_to_json(entry: &Entry) -> Result<String, serde_json::Error> {
    entry_to_exact_json(entry).map(one_line)
}

/// Encodes a record as JSON with the exact bytes of its payloads, which may contain line breaks.
pub fn entry_to_exact_json(entry: &Entry) -> Result<String, serde_json::Error> {
    to_json(&entry.record, Some(entry.number))
}

/// Encodes a record that has no number yet, with the exact bytes of its payloads.
pub fn record_to_exact_json(record: &Record) -> Result<String, serde_json::Error> {
    to_json(record, None)
}

fn to_json(record: &Record, number: Option<RecordNumber>) -> Result<String, serde_json::Error> {
    let body = &record.body;
    let location = body.location();
    let mut fields = body.to_json()?;
    if let Some(location) = location {
        let name = serde_json::to_string(&location.name)?;
        fields.insert_str(1, &format!("\"name\":{name},"));
    }
    serde_json::to_string(&EnvelopeOut {
        kind: format!("{PREFIX}{}", body.type_name()),
        key: location.map_or_else(|| "run".to_owned(), ToString::to_string),
        value: RawValue::from_string(fields)?,
        headers: HeadersOut {
            operation: operation(body),
            timestamp: record.time,
            number,
        },
    })
}

/// Replaces line breaks in JSON by spaces. A JSON string contains no line breaks, so the value
/// stays the same.
#[must_use]
pub fn one_line(mut json: String) -> String {
    if json.contains(['\n', '\r']) {
        json = json.replace(['\n', '\r'], " ");
    }
    json
}

/// Decodes a line. Line breaks in payloads have become spaces.
pub fn entry_from_json(line: &str) -> Result<Entry, InvalidJournalLine> {
    let (record, number) = from_json(line)?;
    let number = number.ok_or(InvalidJournalLine::NoNumber)?;
    Ok(Entry { number, record })
}

/// Decodes a record. Its number is optional.
pub fn record_from_json(json: &str) -> Result<Record, InvalidJournalLine> {
    from_json(json).map(|(record, _)| record)
}

fn from_json(line: &str) -> Result<(Record, Option<RecordNumber>), InvalidJournalLine> {
    let envelope: EnvelopeIn<'_> =
        serde_json::from_str(line).map_err(InvalidJournalLine::Envelope)?;
    let unknown = || InvalidJournalLine::UnknownType(envelope.kind.clone());
    let type_name = envelope.kind.strip_prefix(PREFIX).ok_or_else(unknown)?;
    let body = Body::from_json(type_name, envelope.value.get())
        .ok_or_else(unknown)?
        .map_err(|error| InvalidJournalLine::Fields {
            kind: envelope.kind.clone(),
            error,
        })?;
    let record = Record {
        time: envelope.headers.timestamp,
        body,
    };
    Ok((record, envelope.headers.number))
}

fn operation(body: &Body) -> &'static str {
    match body {
        Body::StateChanged(change) if change.operation == RowOperation::Delete => "delete",
        _ => "insert",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{any_record, one_of_each};
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_record_round_trips() {
        for (n, record) in one_of_each().into_iter().enumerate() {
            let entry = Entry {
                number: RecordNumber(n as u64),
                record,
            };
            let line = entry_to_json(&entry).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(entry_from_json(&line).unwrap(), entry, "{line}");
        }
    }

    #[test]
    fn a_payload_with_line_breaks_becomes_one_line() {
        let given = "{\n  \"text\": \"two\\nlines\",\r\n  \"numbers\": [1,\n2]\n}";
        let payload = crate::Payload::from_json(given).unwrap();
        let entry = Entry {
            number: RecordNumber(3),
            record: Record {
                time: Timestamp::from_millis(1),
                body: crate::record::Completed {
                    result: payload.clone(),
                    abandoned: Vec::new(),
                }
                .into(),
            },
        };
        let line = entry_to_json(&entry).unwrap();
        assert!(!line.contains(['\n', '\r']), "{line}");
        let Body::Completed(read) = entry_from_json(&line).unwrap().record.body else {
            panic!("another kind: {line}");
        };
        assert_eq!(read.result.as_str(), given.replace(['\n', '\r'], " "));
        let value = |payload: &crate::Payload| payload.decode::<serde_json::Value>().unwrap();
        assert_eq!(value(&read.result), value(&payload));
    }

    proptest! {
        #[test]
        fn lines_round_trip(record in any_record(), number in 0u64..1 << 50) {
            let entry = Entry { number: RecordNumber(number), record };
            let line = entry_to_json(&entry).unwrap();
            prop_assert_eq!(entry_from_json(&line).unwrap(), entry);
        }
    }

    #[test]
    fn an_unknown_type_is_refused_with_advice_to_upgrade() {
        let line = r#"{"type":"workflow:teleported","key":"x","value":{},"headers":{"timestamp":"2026-11-15T08:00:00.000Z","number":1}}"#;
        let error = entry_from_json(line).unwrap_err();
        assert!(error.to_string().contains("upgrade"), "{error}");
    }
}
