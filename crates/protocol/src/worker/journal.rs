//! Records in the worker protocol: as in journals, but with the exact bytes of payloads.

use everstep_model::{
    Entry, Record, RecordNumber, Timestamp, entry_from_json, entry_to_exact_json, record_from_json,
    record_to_exact_json,
};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
#[cfg(feature = "schema")]
use {
    crate::schema::{EntryShape, RecordShape},
    schemars::JsonSchema,
};

/// A record of a journal.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema), schemars(rename = "Entry"))]
pub struct WireEntry(#[cfg_attr(feature = "schema", schemars(with = "EntryShape"))] pub Entry);

/// A record to append, which has no number.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema), schemars(rename = "Record"))]
pub struct WireRecord(#[cfg_attr(feature = "schema", schemars(with = "RecordShape"))] pub Record);

impl Serialize for WireEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = entry_to_exact_json(&self.0).and_then(RawValue::from_string);
        json.map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WireEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let entry = entry_from_json(json.get()).map_err(D::Error::custom)?;
        Ok(Self(entry))
    }
}

impl Serialize for WireRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = record_to_exact_json(&self.0).and_then(RawValue::from_string);
        json.map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WireRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let record = record_from_json(json.get()).map_err(D::Error::custom)?;
        Ok(Self(record))
    }
}

/// `POST /v1/workers/{session}/read`: a request for the journal of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadRequest {
    /// The token of the run's claim.
    pub token: String,
    /// The number of the first record.
    pub from: RecordNumber,
}

/// The journal of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadAnswer {
    /// The records up to the end of the journal.
    pub records: Vec<WireEntry>,
    /// The server's clock.
    pub now: Timestamp,
}

#[cfg(test)]
mod tests {
    use everstep_model::Payload;
    use everstep_model::record::Completed;

    use super::*;

    #[test]
    fn payloads_keep_their_exact_bytes() {
        let given = "{\"b\": 12345678901234567890.10,\n  \"a\": [1,  2]}";
        let record = Record {
            time: Timestamp::from_millis(1_000),
            body: Completed {
                result: Payload::from_json(given).unwrap(),
                abandoned: Vec::new(),
            }
            .into(),
        };
        let text = serde_json::to_string(&vec![WireRecord(record.clone())]).unwrap();
        let back: Vec<WireRecord> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, [WireRecord(record.clone())], "{text}");
        let entry = Entry {
            number: RecordNumber(7),
            record,
        };
        let text = serde_json::to_string(&WireEntry(entry.clone())).unwrap();
        let back: WireEntry = serde_json::from_str(&text).unwrap();
        assert_eq!(back.0, entry, "{text}");
    }
}
