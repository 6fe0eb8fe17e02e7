//! Which steps are sensitive. A step is if any of its records says so, whichever comes first.

use std::collections::BTreeSet;

use everstep_model::{Body, Entry, Location};

/// The places of the sensitive steps of a journal.
#[derive(Debug)]
pub(super) struct Secrets(BTreeSet<Location>);

impl Secrets {
    /// Reads ahead: an operator may give a step its result before the record that says that it is sensitive.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut sensitive = BTreeSet::new();
        for entry in entries {
            let body = &entry.record.body;
            if says_so(body)
                && let Some(location) = body.location()
            {
                sensitive.insert(location.clone());
            }
        }
        Self(sensitive)
    }

    /// Whether payloads of a record are withheld: those of all records about a sensitive step are.
    pub(super) fn hide(&self, body: &Body) -> bool {
        body.location()
            .is_some_and(|location| self.0.contains(location))
    }
}

fn says_so(body: &Body) -> bool {
    if let Body::StepStarted(step) = body {
        return step.options.is_some_and(|options| options.sensitive);
    }
    matches!(body, Body::StepCompleted(step) if step.sensitive)
}
