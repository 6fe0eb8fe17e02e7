//! The full view: every record, with the fields that readers may see.

use std::collections::HashMap;

use bytes::Bytes;
use everstep_engine::streams::JournalView;
use everstep_model::record::{RowOperation, StepSoFar};
use everstep_model::{Body, Entry};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::value::RawValue;

use super::change::{Operation, record};

pub(super) struct FullView;

impl JournalView for FullView {
    fn fold(&mut self, entry: &Entry) -> Vec<Bytes> {
        render(entry)
    }

    fn depends_on_earlier_records(&self) -> bool {
        false
    }
}

pub(in crate::journals) fn render(entry: &Entry) -> Vec<Bytes> {
    let body = &entry.record.body;
    let kind = format!("workflow:{}", body.type_name());
    let key = body.location().map(ToString::to_string);
    let Ok(fields) = body.to_json() else {
        return Vec::new();
    };
    let operation = match body {
        Body::StateChanged(row) if row.operation == RowOperation::Delete => Operation::Delete,
        _ => Operation::Insert,
    };
    let fields = &fields;
    let value = Shown { body, fields };
    let key = key.as_deref().unwrap_or("run");
    let change = record(entry, &kind, key, operation, value);
    change.into_iter().collect()
}

/// Returns whether the result in a record must be redacted. Records of earlier releases that do not
/// say so are redacted.
pub(crate) fn is_secret(body: &Body) -> bool {
    let of_step = |so_far: &Option<StepSoFar>| so_far.is_none_or(|step| step.sensitive);
    match body {
        Body::StepCompleted(step) => step.sensitive,
        Body::StepSkipped(step) => of_step(&step.so_far),
        Body::StepEdited(step) => of_step(&step.so_far),
        _ => false,
    }
}

/// Serializes the visible fields of a record in the order of the list, with payloads byte for byte.
struct Shown<'a> {
    body: &'a Body,
    /// All fields as JSON.
    fields: &'a str,
}

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all: HashMap<&str, &RawValue> =
            serde_json::from_str(self.fields).map_err(serde::ser::Error::custom)?;
        let is_secret = is_secret(self.body);
        let mut map = serializer.serialize_map(None)?;
        if let Some(location) = self.body.location() {
            map.serialize_entry("name", &location.name)?;
        }
        for name in self.body.shown_fields() {
            match all.get(name) {
                Some(_) if is_secret && *name == "result" => {
                    map.serialize_entry("result", &())?;
                    map.serialize_entry("redacted", &true)?;
                }
                Some(value) => map.serialize_entry(name, value)?,
                None => {}
            }
        }
        map.end()
    }
}
