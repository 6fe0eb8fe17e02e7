//! What the code writes down without waiting for anything: notes, rows, notifications, answers to events. Each once.

use everstep_model::record::{AttributeSet, Emitted, Note, Replied, RowOperation, StateChanged};
use everstep_model::{Body, Location, Name, Payload, RecordNumber, Scope};

use super::Replay;
use super::divergence::CallSite;
use super::memo::Remembered;

impl Replay {
    /// Leaves a line in the audit trail.
    pub fn note(&mut self, scope: &Scope, text: String, site: CallSite) {
        self.write(scope, "__note", site, |location| {
            Note { location, text }.into()
        });
    }

    /// Changes a row of the application.
    pub fn change_row(
        &mut self,
        scope: &Scope,
        collection: Name,
        key: String,
        value: Option<Payload>,
        site: CallSite,
    ) {
        self.write(scope, "__row", site, |location| {
            let operation = if value.is_some() {
                RowOperation::Upsert
            } else {
                RowOperation::Delete
            };
            StateChanged {
                location,
                collection,
                key,
                operation,
                value: value.unwrap_or_else(Payload::null),
            }
            .into()
        });
    }

    /// Sets an attribute of the run. The caller has checked name and value.
    pub fn set_attribute(
        &mut self,
        scope: &Scope,
        attribute: Name,
        value: Payload,
        site: CallSite,
    ) {
        self.write(scope, "__attribute", site, |location| {
            AttributeSet {
                location,
                attribute,
                value,
            }
            .into()
        });
    }

    /// Notifies whoever listens.
    pub fn emit(&mut self, scope: &Scope, topic: Name, payload: Payload, site: CallSite) {
        self.write(scope, "__emit", site, |location| {
            Emitted {
                location,
                topic,
                payload,
            }
            .into()
        });
    }

    /// Answers an event whose sender waits. False if it was answered before.
    pub fn reply(
        &mut self,
        scope: &Scope,
        event: RecordNumber,
        payload: Payload,
        site: CallSite,
    ) -> bool {
        if !self.replied.insert(event) {
            return false;
        }
        self.write(scope, "__reply", site, |location| {
            Replied {
                location,
                event,
                payload,
            }
            .into()
        });
        true
    }

    pub(super) fn write(
        &mut self,
        scope: &Scope,
        name: &str,
        site: CallSite,
        body: impl FnOnce(Location) -> Body,
    ) {
        let Ok(name) = self.names.internal(name) else {
            return;
        };
        let Some(location) = self.call(scope, &name, "note", site) else {
            return;
        };
        let body = body(location.clone());
        match self.memo.take(&location) {
            Some(Remembered::Written(kind)) if kind == body.type_name() => {}
            Some(other) => {
                self.halt_on_memory(&location, body.type_name(), &other, site);
            }
            None => {
                self.say_at(body, Some(site));
            }
        }
    }
}
