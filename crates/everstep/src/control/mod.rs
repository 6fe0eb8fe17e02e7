//! Control of runs: pausing, cancelling, reviving, settling steps, forking, deleting, one or many at a time.
//!
//! Each verb gives a [`ControlRequest`]: say who asks and why, then await it. What it did comes back as [`Done`](everstep_engine::Done).

mod bulk;
mod fork;
mod request;
mod steps;
mod verbs;

use crate::engine_error::EngineError;
use everstep_model::{InvalidLocation, Location};

pub use bulk::BulkRuns;
pub use fork::Fork;
pub use request::{ControlRequest, Verb};
pub use steps::{EditStep, FailOperation, RestartFrom, SkipStep};
pub use verbs::{Cancel, Plain};

/// A place as people write it: `charge` is short for `charge:0`.
fn location(text: &str) -> Result<Location, EngineError> {
    let parsed = match text.parse::<Location>() {
        Err(InvalidLocation::NoCounter) => format!("{text}:0").parse(),
        parsed => parsed,
    };
    parsed.map_err(|error| EngineError::Options(error.to_string()))
}
