//! Fields that carry values of users.

use super::ChildOutcome;
use crate::payload::Payload;

/// A field that the table of kinds names as a payload.
pub(super) trait Carried {
    fn carried(&self) -> Option<&Payload>;
}

impl Carried for Payload {
    fn carried(&self) -> Option<&Payload> {
        Some(self)
    }
}

impl Carried for Option<Payload> {
    fn carried(&self) -> Option<&Payload> {
        self.as_ref()
    }
}

impl Carried for ChildOutcome {
    fn carried(&self) -> Option<&Payload> {
        match self {
            Self::Completed(result) => Some(result),
            Self::Failed(_) | Self::Cancelled(_) => None,
        }
    }
}
