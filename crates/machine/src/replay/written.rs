//! What the code writes once per call without waiting for it: notes, rows, attributes,
//! notifications, replies, events to other runs, and the point of no return.

use everstep_model::record::{
    AttributeSet, Emitted, NoReturn, Note, Replied, RowOperation, Sent, StateChanged,
};
use everstep_model::{Body, Location, Name, Payload, RecordNumber, RunId};

use super::context::{Called, Context};
use super::earlier_passes::Remembered;

/// A record that the code writes.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub enum Written {
    /// An entry of the audit trail.
    Note(String),
    /// A row for live clients. `None` deletes it.
    Row {
        collection: Name,
        key: String,
        value: Option<Payload>,
    },
    /// The caller has checked name and value.
    Attribute { name: Name, value: Payload },
    /// A notification.
    Emit { topic: Name, payload: Payload },
    /// The reply to an event whose sender waits for it.
    Reply {
        event: RecordNumber,
        payload: Payload,
    },
    /// An event to another run.
    Send {
        to: RunId,
        event: Name,
        payload: Payload,
    },
    /// From here on only undos marked internal run.
    NoReturn,
}

impl Written {
    /// The internal name under which such records are counted.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Note(_) => "__note",
            Self::Row { .. } => "__row",
            Self::Attribute { .. } => "__attribute",
            Self::Emit { .. } => "__emit",
            Self::Reply { .. } => "__reply",
            Self::Send { .. } => "__sent",
            Self::NoReturn => "__no_return",
        }
    }

    /// The type name of its record.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Note(_) => "note",
            Self::Row { .. } => "state_changed",
            Self::Attribute { .. } => "attribute_set",
            Self::Emit { .. } => "emitted",
            Self::Reply { .. } => "replied",
            Self::Send { .. } => "sent",
            Self::NoReturn => "no_return",
        }
    }

    fn into_body(self, location: Location) -> Body {
        match self {
            Self::Note(text) => Note { location, text }.into(),
            Self::Row {
                collection,
                key,
                value,
            } => StateChanged {
                location,
                collection,
                key,
                operation: match value {
                    Some(_) => RowOperation::Upsert,
                    None => RowOperation::Delete,
                },
                value: value.unwrap_or_else(Payload::null),
            }
            .into(),
            Self::Attribute { name, value } => AttributeSet {
                location,
                attribute: name,
                value,
            }
            .into(),
            Self::Emit { topic, payload } => Emitted {
                location,
                topic,
                payload,
            }
            .into(),
            Self::Reply { event, payload } => Replied {
                location,
                event,
                payload,
            }
            .into(),
            Self::Send { to, event, payload } => Sent {
                location,
                to,
                event,
                payload,
            }
            .into(),
            Self::NoReturn => NoReturn { location }.into(),
        }
    }
}

pub(super) fn write(called: Called, written: Written, cx: &mut Context) {
    let record = written.type_name();
    match cx.earlier.take(&called.location) {
        Some(Remembered::Written(earlier)) if earlier == record => {}
        Some(other) => cx.halt_on_other(&called, record, &other),
        None => {
            cx.say(written.into_body(called.location), Some(called.site));
        }
    }
}
