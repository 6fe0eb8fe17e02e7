//! What goes to other runs, to clients and into the audit trail.

use everstep_model::record::{
    ChildFinished, ChildOutcome, ChildStarted, Data, Emitted, Note, Replied, RowOperation, Sent,
    StateChanged,
};

use super::phrase::After;
use super::{Lasted, Tell};

impl Tell for ChildStarted {
    fn tell(&self, _: Lasted) -> String {
        let (place, run, workflow) = (&self.location, &self.run, &self.workflow);
        let detached = if self.detached {
            ", and nobody waits for it"
        } else {
            ""
        };
        format!("Child `{place}` started: run `{run}` of workflow `{workflow}`{detached}")
    }
}

impl Tell for ChildFinished {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, after) = (&self.location, After(lasted.whole));
        match &self.outcome {
            ChildOutcome::Completed(_) => format!("Child `{place}` completed{after}"),
            ChildOutcome::Failed(error) => format!("Child `{place}` failed{after}: {error}"),
            ChildOutcome::Cancelled(error) => format!("Child `{place}` cancelled{after}: {error}"),
        }
    }
}

impl Tell for Sent {
    fn tell(&self, _: Lasted) -> String {
        let (place, event, to) = (&self.location, &self.event, &self.to);
        format!("Event `{event}` sent to run `{to}` in `{place}`")
    }
}

impl Tell for Replied {
    fn tell(&self, _: Lasted) -> String {
        let (place, event) = (&self.location, self.event);
        format!("Event of record {event} replied to in `{place}`")
    }
}

impl Tell for StateChanged {
    fn tell(&self, _: Lasted) -> String {
        let (key, collection) = (&self.key, &self.collection);
        match self.operation {
            RowOperation::Upsert => format!("Row `{key}` of `{collection}` written"),
            RowOperation::Delete => format!("Row `{key}` of `{collection}` deleted"),
        }
    }
}

impl Tell for Emitted {
    fn tell(&self, _: Lasted) -> String {
        format!("Notification `{}` emitted", self.topic)
    }
}

impl Tell for Note {
    fn tell(&self, _: Lasted) -> String {
        format!("Note: {}", self.text)
    }
}

impl Tell for Data {
    fn tell(&self, _: Lasted) -> String {
        format!("Message of {} bytes", self.bytes.len())
    }
}
