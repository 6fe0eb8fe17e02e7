//! Messages to other runs, to clients and to the audit trail.

use everstep_model::record::{
    AttributeSet, ChildFinished, ChildOutcome, ChildStarted, Data, Emitted, Note, Replied,
    RowOperation, Sent, StateChanged,
};

use super::super::describe::Describe;
use super::super::details::Details;
use super::super::elapsed::Elapsed;
use super::super::line::Outcome;
use super::phrase::After;

impl Describe for ChildStarted {
    fn sentence(&self, _: Elapsed) -> String {
        let (place, run, workflow) = (&self.location, &self.run, &self.workflow);
        let detached = if self.detached {
            ", and nobody waits for it"
        } else {
            ""
        };
        format!("Child `{place}` started: run `{run}` of workflow `{workflow}`{detached}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.input)
    }
}

impl Describe for ChildFinished {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, after) = (&self.location, After(elapsed.whole));
        match &self.outcome {
            ChildOutcome::Completed(_) => format!("Child `{place}` completed{after}"),
            ChildOutcome::Failed(error) => format!("Child `{place}` failed{after}: {error}"),
            ChildOutcome::Cancelled(error) => format!("Child `{place}` cancelled{after}: {error}"),
        }
    }

    fn details(&self) -> Details<'_> {
        let details = Details::default();
        match &self.outcome {
            ChildOutcome::Completed(result) => details.outcome(Outcome::Ok).payload(result),
            ChildOutcome::Failed(error) => details.outcome(Outcome::Failed).error(error),
            ChildOutcome::Cancelled(error) => details.outcome(Outcome::Cancelled).error(error),
        }
    }
}

impl Describe for Sent {
    fn sentence(&self, _: Elapsed) -> String {
        let (place, event, to) = (&self.location, &self.event, &self.to);
        format!("Event `{event}` sent to run `{to}` in `{place}`")
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.payload)
    }
}

impl Describe for Replied {
    fn sentence(&self, _: Elapsed) -> String {
        let (place, event) = (&self.location, self.event);
        format!("Event of record {event} replied to in `{place}`")
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.payload)
    }
}

impl Describe for StateChanged {
    fn sentence(&self, _: Elapsed) -> String {
        let (key, collection) = (&self.key, &self.collection);
        match self.operation {
            RowOperation::Upsert => format!("Row `{key}` of `{collection}` written"),
            RowOperation::Delete => format!("Row `{key}` of `{collection}` deleted"),
        }
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.value)
    }
}

impl Describe for Emitted {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Notification `{}` emitted", self.topic)
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.payload)
    }
}

impl Describe for Note {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Note: {}", self.text)
    }
}

impl Describe for Data {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Message of {} bytes", self.bytes.len())
    }
}

impl Describe for AttributeSet {
    fn sentence(&self, _: Elapsed) -> String {
        format!("Attribute `{}` set", self.attribute)
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.value)
    }
}
