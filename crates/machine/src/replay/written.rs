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
    Attribute {
        name: Name,
        value: Payload,
    },
    Emit {
        topic: Name,
        payload: Payload,
    },
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
    /// Returns the internal name under which such records are counted, and the type name of the
    /// record.
    pub(super) fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Note(_) => ("__note", "note"),
            Self::Row { .. } => ("__row", "state_changed"),
            Self::Attribute { .. } => ("__attribute", "attribute_set"),
            Self::Emit { .. } => ("__emit", "emitted"),
            Self::Reply { .. } => ("__reply", "replied"),
            Self::Send { .. } => ("__sent", "sent"),
            Self::NoReturn => ("__no_return", "no_return"),
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
    let (_, record) = written.names();
    match cx.earlier.take(&called.location) {
        Some(Remembered::Written(earlier)) if earlier == record => {}
        Some(other) => cx.halt_on_other(&called, record, &other),
        None => {
            cx.add_line(written.into_body(called.location), Some(called.site));
        }
    }
}
