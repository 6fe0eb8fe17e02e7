//! Rows of the events that no wait has consumed.

use bytes::Bytes;
use everstep_model::{Body, Entry, Name, Payload, Timestamp};
use serde::Serialize;

use super::change::{Operation, changed, deleted};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventRow<'a> {
    id: &'a str,
    name: &'a Name,
    payload: &'a Payload,
    by: Option<&'a str>,
    received_at: Timestamp,
}

/// Returns the changes of these rows that follow from a record.
pub(super) fn events(entry: &Entry) -> Vec<Bytes> {
    match &entry.record.body {
        Body::Event(event) => {
            let id = entry.number.to_string();
            let value = EventRow {
                id: &id,
                name: &event.name,
                payload: &event.payload,
                by: event.by.as_deref(),
                received_at: entry.record.time,
            };
            let inserted = changed(entry, "event", &id, Operation::Insert, value);
            inserted.into_iter().collect()
        }
        Body::WaitCompleted(wait) => {
            let consumed = wait.events.iter();
            consumed
                .filter_map(|number| deleted(entry, "event", &number.to_string()))
                .collect()
        }
        _ => Vec::new(),
    }
}
