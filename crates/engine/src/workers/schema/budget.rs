//! What holding a value against a schema may cost, and what can come of it. Neither schemas nor values are this process's
//! own: together they could keep it busy for ever.

use std::cell::Cell;

use everstep_model::limits::SCHEMA_STEPS_MAX;

/// Why a value is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// This does not fit; empty where nobody will read it.
    Wrong(String),
    /// There is no telling: it took too long, or went too deep. No combination of schemas may take this for a plain no.
    NoTelling(String),
}

impl Misfit {
    pub(super) fn into_words(self) -> String {
        match self {
            Self::Wrong(words) | Self::NoTelling(words) => words,
        }
    }
}

/// The steps that are left of one check.
pub(super) struct Budget(Cell<u64>);

impl Budget {
    pub(super) fn new() -> Self {
        Self(Cell::new(SCHEMA_STEPS_MAX))
    }

    /// Takes steps from what is left.
    pub(super) fn spend(&self, steps: usize) -> Result<(), Misfit> {
        let left = self.0.get().checked_sub(steps as u64);
        let Some(left) = left else {
            let detail = format!(
                "it takes more than {SCHEMA_STEPS_MAX} steps to hold it against its schema; send less at once, or make the schema simpler"
            );
            return Err(Misfit::NoTelling(detail));
        };
        self.0.set(left);
        Ok(())
    }

    /// Takes what it costs to go through a text: little, but not nothing.
    pub(super) fn spend_on_text(&self, text: &str) -> Result<(), Misfit> {
        const BYTES_PER_STEP: usize = 64;
        self.spend(1 + text.len() / BYTES_PER_STEP)
    }
}
