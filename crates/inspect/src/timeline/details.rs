//! The structured part of a line: author, outcome, attempt, error and payload.

use everstep_model::{Failure, Payload};

use super::line::Outcome;

/// The parts of a line that its record alone determines. Payloads of sensitive steps are included; the timeline removes them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details<'a> {
    pub(super) by: Option<&'a str>,
    pub(super) outcome: Option<Outcome>,
    pub(super) attempt: Option<u32>,
    pub(super) error: Option<&'a Failure>,
    pub(super) payload: Option<&'a Payload>,
}

impl<'a> Details<'a> {
    pub(super) fn by(self, by: &'a Option<String>) -> Self {
        let by = by.as_deref();
        Self { by, ..self }
    }

    pub(super) fn outcome(self, outcome: Outcome) -> Self {
        let outcome = Some(outcome);
        Self { outcome, ..self }
    }

    pub(super) fn attempt(self, attempt: u32) -> Self {
        let attempt = Some(attempt);
        Self { attempt, ..self }
    }

    pub(super) fn error(self, error: &'a Failure) -> Self {
        let error = Some(error);
        Self { error, ..self }
    }

    pub(super) fn payload(self, payload: &'a Payload) -> Self {
        let payload = Some(payload);
        Self { payload, ..self }
    }
}
