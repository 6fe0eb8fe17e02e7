//! Children, messages to other runs and to clients, and entries of the audit trail.

use everstep_model::record::{
    AttributeSet, ChildFinished, ChildOutcome, ChildStarted, Data, Emitted, Note, Replied,
    RowOperation, Sent, StateChanged,
};

use super::{Describe, Description, Elapsed, Outcome};

impl Describe for ChildStarted {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, run, workflow) = (&self.location, &self.run, &self.workflow);
        let detached = if self.detached { " (detached)" } else { "" };
        let sentence =
            format!("Child `{at}` started: run `{run}` of workflow `{workflow}`{detached}");
        Description::new(sentence).payload(&self.input)
    }
}

impl Describe for ChildFinished {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, after) = (&self.location, elapsed.after());
        let (how, outcome, error) = match &self.outcome {
            ChildOutcome::Completed(result) => {
                let description = Description::new(format!("Child `{at}` completed{after}"));
                return description.outcome(Outcome::Ok).payload(result);
            }
            ChildOutcome::Failed(error) => ("failed", Outcome::Failed, error),
            ChildOutcome::Cancelled(error) => ("cancelled", Outcome::Cancelled, error),
        };
        let sentence = format!("Child `{at}` {how}{after}: {error}");
        Description::new(sentence).outcome(outcome).error(error)
    }
}

impl Describe for Sent {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, event, to) = (&self.location, &self.event, &self.to);
        let sentence = format!("Event `{event}` sent to run `{to}` in `{at}`");
        Description::new(sentence).payload(&self.payload)
    }
}

impl Describe for Replied {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, event) = (&self.location, self.event);
        let sentence = format!("Event of record {event} replied to in `{at}`");
        Description::new(sentence).payload(&self.payload)
    }
}

impl Describe for StateChanged {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (key, collection) = (&self.key, &self.collection);
        let change = match self.operation {
            RowOperation::Upsert => "written",
            RowOperation::Delete => "deleted",
        };
        let sentence = format!("Row `{key}` of `{collection}` {change}");
        Description::new(sentence).payload(&self.value)
    }
}

impl Describe for Emitted {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let sentence = format!("Notification `{}` emitted", self.topic);
        Description::new(sentence).payload(&self.payload)
    }
}

impl Describe for Note {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        Description::new(format!("Note: {}", self.text))
    }
}

impl Describe for Data {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        Description::new(format!("Message of {} bytes", self.bytes.len()))
    }
}

impl Describe for AttributeSet {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let sentence = format!("Attribute `{}` set", self.attribute);
        Description::new(sentence).payload(&self.value)
    }
}
