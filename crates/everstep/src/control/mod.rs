//! Control of runs: pausing, cancelling, reviving, settling steps, forking, deleting, one or many at a time.
//!
//! Each verb returns a [`ControlRequest`]: add an actor and a reason, then await it. The result is [`Done`].

mod bulk;
mod fork;
mod request;
mod steps;
mod verbs;

use everstep_engine::InvalidOptions;
pub use everstep_engine::{Because, BulkProgress, Control, Done, Effect, Grouping, Sent};
use everstep_model::{InvalidLocation, Location};

pub use crate::client::{BulkReport, ControlError};

pub use bulk::BulkRuns;
pub use fork::Fork;
pub use request::{ControlRequest, Verb};
pub use steps::{EditStep, FailOperation, RestartFrom, SkipStep};
pub use verbs::{Cancel, Plain};

/// Parses a location; `charge` is short for `charge:0`.
fn location(text: &str) -> Result<Location, ControlError> {
    let parsed = match text.parse::<Location>() {
        Err(InvalidLocation::NoCounter) => format!("{text}:0").parse(),
        parsed => parsed,
    };
    parsed.map_err(|error| InvalidOptions(error.to_string()).into())
}
