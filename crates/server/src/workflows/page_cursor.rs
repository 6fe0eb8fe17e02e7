//! Cursors: where the next page of something about one generation begins. The run may begin another
//! generation while a client reads pages.

use std::fmt;

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use everstep_model::{Generation, RecordNumber, RunId};

use super::call::Call;
use crate::failure::Failure;

/// The header of a response that has no place for a cursor in its body.
pub(crate) const CURSOR: HeaderName = HeaderName::from_static("everstep-cursor");

/// Displayed as clients send it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageCursor {
    pub(super) generation: Generation,
    pub(super) position: String,
}

impl PageCursor {
    fn parse(text: &str) -> Option<Self> {
        let (generation, position) = text.split_once('.')?;
        Some(Self {
            generation: Generation(generation.parse().ok()?),
            position: position.to_owned(),
        })
    }

    /// Adds the cursor to a response.
    pub(super) fn put(&self, response: &mut Response) {
        if let Ok(value) = HeaderValue::from_str(&self.to_string()) {
            response.headers_mut().insert(CURSOR, value);
        }
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.generation, self.position)
    }
}

pub(super) fn invalid_cursor() -> Failure {
    Failure::invalid("invalid cursor; begin again without a cursor")
}

/// What a request asks a page of.
pub(super) struct PageOf {
    pub(super) run: RunId,
    /// `None` for the latest.
    pub(super) generation: Option<Generation>,
    /// The position in the cursor, if the request has one.
    pub(super) position: Option<String>,
}

impl PageOf {
    /// Returns the position in the cursor as the number of a record, by default the first.
    pub(super) fn first_record(&self) -> Result<RecordNumber, Failure> {
        let number = self.position.as_deref().map(str::parse).transpose();
        Ok(RecordNumber(
            number.map_err(|_| invalid_cursor())?.unwrap_or(0),
        ))
    }

    pub(super) fn of(call: &Call, cursor: Option<&str>) -> Result<Self, Failure> {
        let (run, named) = call.run_and_generation()?;
        let Some(text) = cursor else {
            return Ok(Self {
                run,
                generation: named,
                position: None,
            });
        };
        let cursor = PageCursor::parse(text).ok_or_else(invalid_cursor)?;
        if named.is_some_and(|named| named != cursor.generation) {
            return Err(invalid_cursor());
        }
        Ok(Self {
            run,
            generation: Some(cursor.generation),
            position: Some(cursor.position),
        })
    }
}
