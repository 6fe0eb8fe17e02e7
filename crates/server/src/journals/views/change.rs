//! The envelope of the State Protocol: one change of one row.

use bytes::Bytes;
use everstep_model::{Timestamp, one_line};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    Insert,
    Update,
    Delete,
}

/// One change. Consumers rely on the headers, and on a value that is an object unless the row is
/// deleted.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Change<'a, V: Serialize> {
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<V>,
    pub(super) headers: Headers<'a>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Headers<'a> {
    pub(super) operation: Operation,
    pub(super) timestamp: Timestamp,
    /// The id by which the client that caused the change recognises it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) txid: Option<&'a str>,
}

impl<V: Serialize> Change<'_, V> {
    /// Serializes the change. `None` if a stored payload is damaged.
    pub(super) fn message(&self) -> Option<Bytes> {
        let text = serde_json::to_string(self);
        let text = text.inspect_err(|error| {
            tracing::error!(%error, kind = self.kind, key = self.key, "cannot render record");
        });
        Some(one_line(text.ok()?).into())
    }
}
