//! The State Protocol's envelope: one change of one row.

use bytes::Bytes;
use everstep_model::{Timestamp, one_line};
use serde::Serialize;

/// What happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    Insert,
    Update,
    Delete,
}

/// One change. Every one has headers, and a value that is an object unless the row goes: consumers rely on both.
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
    /// What the client that caused it knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) txid: Option<&'a str>,
}

impl<V: Serialize> Change<'_, V> {
    /// As a message; none if a payload of it is damaged, which is a matter of the store.
    pub(super) fn message(&self) -> Option<Bytes> {
        let text = serde_json::to_string(self);
        let text = text.inspect_err(|error| {
            tracing::error!(%error, kind = self.kind, key = self.key, "a record cannot be shown");
        });
        Some(one_line(text.ok()?).into())
    }
}
