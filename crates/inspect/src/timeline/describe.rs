//! What every kind of record contributes to its line.

use everstep_model::{Failure, Payload};

use super::elapsed::Elapsed;
use super::line::Outcome;

pub(super) trait Describe {
    fn describe(&self, elapsed: Elapsed) -> Description<'_>;
}

/// The parts of a line that its record determines. Payloads of sensitive steps are included; the
/// timeline removes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Description<'a> {
    /// What happened, in plain English on one line and without payloads. Parts that are not known
    /// are left out.
    pub(super) sentence: String,
    pub(super) by: Option<&'a str>,
    pub(super) outcome: Option<Outcome>,
    pub(super) attempt: Option<u32>,
    pub(super) error: Option<&'a Failure>,
    pub(super) payload: Option<&'a Payload>,
}

impl<'a> Description<'a> {
    pub(super) fn new(sentence: String) -> Self {
        Self {
            sentence,
            ..Self::default()
        }
    }

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
