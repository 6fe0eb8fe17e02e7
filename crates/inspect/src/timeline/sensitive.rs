//! Which steps are sensitive: those that any record marks.

use std::collections::BTreeSet;

use everstep_model::{Body, Entry, Location};

#[derive(Debug)]
pub(super) struct SensitiveSteps(BTreeSet<Location>);

impl SensitiveSteps {
    /// Reads the whole journal first, because an operator may set the result of a step before a
    /// record marks it as sensitive.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut sensitive = BTreeSet::new();
        for entry in entries {
            let body = &entry.record.body;
            if is_marked(body)
                && let Some(location) = body.location()
            {
                sensitive.insert(location.clone());
            }
        }
        Self(sensitive)
    }

    /// Adds the steps whose results operators set, unless their records say that they are not
    /// sensitive. Needed if earlier records are not known.
    pub(super) fn add_settled(&mut self, entries: &[Entry]) {
        for entry in entries {
            let (location, so_far) = match &entry.record.body {
                Body::StepSkipped(step) => (&step.location, step.so_far),
                Body::StepEdited(step) => (&step.location, step.so_far),
                _ => continue,
            };
            if so_far.is_none_or(|step| step.sensitive) {
                self.0.insert(location.clone());
            }
        }
    }

    /// Returns whether the payload of a record must be withheld because its step is sensitive.
    pub(super) fn hides(&self, body: &Body) -> bool {
        body.location()
            .is_some_and(|location| self.0.contains(location))
    }
}

fn is_marked(body: &Body) -> bool {
    if let Body::StepStarted(step) = body {
        return step.options.is_some_and(|options| options.sensitive);
    }
    matches!(body, Body::StepCompleted(step) if step.sensitive)
}
