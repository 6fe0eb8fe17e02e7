//! Limits the cost of a check, because schemas and values come from outside, and together they
//! could keep the process busy forever.

use std::cell::Cell;

use everstep_model::limits::SCHEMA_STEPS_MAX;

/// Why a value is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The mismatch as text, which is empty if it is not needed.
    Wrong(String),
    /// The check was too expensive or too deep. Combinations of schemas must not treat this as a
    /// mismatch.
    Undecided(String),
}

impl Misfit {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Wrong(text) | Self::Undecided(text) => text,
        }
    }
}

/// The steps that one check may still take.
pub(super) struct Budget(Cell<u64>);

impl Budget {
    pub(super) fn new() -> Self {
        Self(Cell::new(SCHEMA_STEPS_MAX))
    }

    pub(super) fn spend(&self, steps: usize) -> Result<(), Misfit> {
        let left = self.0.get().checked_sub(steps as u64);
        let Some(left) = left else {
            let detail = format!(
                "the check against its schema takes more than {SCHEMA_STEPS_MAX} steps; send less at once, or simplify the schema"
            );
            return Err(Misfit::Undecided(detail));
        };
        self.0.set(left);
        Ok(())
    }

    /// Spends the cost of reading a text.
    pub(super) fn spend_on_text(&self, text: &str) -> Result<(), Misfit> {
        const BYTES_PER_STEP: usize = 64;
        self.spend(1 + text.len() / BYTES_PER_STEP)
    }
}
